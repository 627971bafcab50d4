// The page of `bayespoint label`: a view of the session on the server. Data are only ever shown as
// text (textContent), and an answer counts when the server says that it is on the disk.

const POLL_MS = 1000, HIDDEN_POLL_MS = 5000, RETRY_MS = 1000, SEARCH_DELAY_MS = 150;
const REQUEST_MS = 20000; // a request that takes longer is lost, for example because a laptop slept
const MANY_VALUES = 16, MANY_CLASSES = 9, WIDE_VALUE = 14, LONG_VALUE = 34, TINY_PIXELS = 128, LINE_PIXELS = 13;
const token = location.pathname.split("/")[1];
const $ = (id) => document.getElementById(id);

let state = null; // what the server said last
let shown = null; // the row on the screen, with its answer
let looking = false; // whether the person looks at a row again, instead of at the question
let sending = null; // the request that the server has not confirmed yet
let n_sent = 0; // requests so far that change something: what was asked for before is old news
let offline = false;

// --- small helpers ---------------------------------------------------------------------------

function make(tag, content = "", attributes = {}) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (Array.isArray(content)) element.append(...content.filter(Boolean));
  else element.textContent = content;
  return element;
}

const count = (n) => n.toLocaleString("en");
const percent = (x, digits = 1) => (x > 0 && x < 0.0005 && digits === 1 ? "< 0.1\u00a0%"
  : `${(100 * x).toFixed(digits).replace(/\.0$/, "")}\u00a0%`);
const words = (answer) => (answer === null ? "no answer" : answer.label === null ? "don’t know" : answer.label);
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
const newId = () => Array.from(crypto.getRandomValues(new Uint32Array(3)), (n) => n.toString(36)).join("");
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// Replace the content of an element only if what it shows has changed, so that focus stays.
const before = new Map();
function fill(element, data, build) {
  const text = JSON.stringify(data);
  if (before.get(element) === text) return;
  before.set(element, text);
  element.replaceChildren(...build());
}

// --- talking to the server -------------------------------------------------------------------

async function get(path) {
  const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(REQUEST_MS) });
  if (answer.status === 204) return null;
  if (!answer.ok) throw new ServerError(await answer.text());
  return answer.json();
}

class ServerError extends Error {}

async function post(path, content) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Bayespoint-Token": token },
    body: JSON.stringify(content),
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  if ((answer.headers.get("content-type") || "").includes("json")) return answer.json();
  throw new ServerError(await answer.text());
}

function poll() {
  const wait = document.hidden && !(state && state.finishing) ? HIDDEN_POLL_MS : POLL_MS;
  setTimeout(async () => {
    if (!sending && !(state && state.results)) await refresh();
    poll();
  }, wait);
}

async function refresh() {
  const turn = n_sent;
  try {
    const news = await get(`state${state ? `?stamp=${encodeURIComponent(state.stamp)}` : ""}`);
    if (turn !== n_sent) return;
    connected();
    if (news) take(news);
  } catch (error) {
    if (turn === n_sent) lost(error);
  }
}

function lost(error) {
  if (error instanceof ServerError) return notice(error.message);
  offline = true;
  if (state && state.results) return;
  const kept = sending && sending.wish.action !== "undo" && sending.wish.row !== undefined
    ? ` Your answer to row ${count(sending.wish.row + 1)} is kept here and sent again.` : "";
  notice(`There is no connection to bayespoint.${kept} If the command has ended, run it again: ` +
    "every answer before this one is saved.", [], "offline");
}

function connected() {
  if (!offline) return;
  offline = false;
  if ($("notice").dataset.kind === "offline") hideNotice();
}

// Send what the person wants until the server has answered. Nothing is shown before it has.
async function act(wish) {
  if (sending || !state || state.finishing) return;
  const mine = { wish: { ...wish, id: newId() } };
  sending = mine;
  n_sent += 1;
  busy(true);
  while (sending === mine) {
    try {
      const answer = await post("act", mine.wish);
      connected();
      sending = null;
      if (answer.error) refused(answer, mine.wish);
      else accepted(answer, mine.wish);
    } catch (error) {
      if (error instanceof ServerError) {
        sending = null;
        notice(error.message);
      } else {
        lost(error);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
  busy(false);
}

function accepted(news, wish) {
  hideNotice();
  const again = looking && wish.row === shown.row;
  if (again || wish.action === "undo") looking = false;
  take(news);
  if (again) notice(`Row ${count(wish.row + 1)} is now “${words(wish.action === "label" ? { label: wish.label } : { label: null })}”.`, [], "fine");
}

function refused(answer, wish) {
  const retry = make("button", answer.kind === "stale" ? "Save mine instead" : "Try again", { type: "button" });
  retry.addEventListener("click", async () => {
    hideNotice();
    if (answer.kind !== "stale") return act(wish);
    const now = await get(`row/${wish.row}`).catch(lost);
    return now && act({ ...wish, before: now.answer });
  });
  if (answer.kind === "stale") looking = false;
  take(answer.state);
  notice(answer.error, ["stale", "disk"].includes(answer.kind) ? [retry] : [], answer.kind);
}

function answer(label) {
  if (!shown) return;
  mark(label);
  act({ action: label === null ? "unknown" : "label", row: shown.row, label: label ?? "", before: shown.answer });
}

// --- showing the state -----------------------------------------------------------------------

function take(news) {
  state = news;
  if (!looking) show(state.question);
  else if (shown) refreshShown();
  showClasses();
  showPanel();
  if (state.problem) notice(state.problem, [], "problem");
  else if ($("notice").dataset.kind === "problem") hideNotice();
  if (state.results || state.finishing) showEnd();
  else if ($("end").classList.contains("writing")) closeEnd(); // the files could not be written
}

async function refreshShown() {
  const row = await get(`row/${shown.row}`).catch(() => null);
  if (row && looking && row.row === shown.row && !same(row.answer, shown.answer)) show(row);
}

function show(row) {
  const changed = !same(row, shown);
  shown = row;
  document.title = `${state.about.target} · ${count(state.summary.n_labels)} labels`;
  fill($("title"), state.about.target, () => [document.createTextNode(`What is “${state.about.target}” here?`)]);
  $("pool").textContent = `${state.about.pool}, ${plural(state.summary.n_rows, "row")}`;
  $("back").hidden = !looking;
  $("main").classList.toggle("again", looking);
  document.querySelector(".place").classList.toggle("again", looking);
  if (!changed) return;
  if (row === null) {
    $("place").textContent = "Done";
    $("row").replaceChildren(make("p", "Every row has an answer.", { class: "done" }));
  } else {
    const said = row.answer ? `, answered “${words(row.answer)}”` : "";
    $("place").textContent = `Row ${count(row.row + 1)}${said}`;
    $("row").replaceChildren(...cells(row));
    if (!matchMedia("(max-width: 60rem)").matches) window.scrollTo(0, 0);
  }
  mark(undefined);
}

function cells(row) {
  const texts = row.cells.filter((cell) => cell.kind === "text");
  const values = row.cells.filter((cell) => cell.kind !== "text");
  const parts = row.image ? [picture(row)] : [];
  for (const cell of texts) {
    const name = row.cells.length > 1 || row.image ? make("span", cell.name, { class: "name" }) : null;
    parts.push(make("p", [name, ...content(row, cell)], { class: "text" }));
  }
  if (values.length) {
    const list = make("dl", values.map((cell) => make("div",
      [make("dt", cell.name), make("dd", content(row, cell))],
      { class: cell.text.length > LONG_VALUE ? "long" : cell.text.length > WIDE_VALUE ? "wide" : "" })), { class: "values" });
    list.classList.toggle("many", values.length > MANY_VALUES);
    parts.push(parts.length && values.length > MANY_VALUES ? folded(list, values.length) : list);
  }
  if (row.n_more_cells) parts.push(make("p", `and ${plural(row.n_more_cells, "more column")}; choose some with --show`, { class: "soft" }));
  return parts;
}

// Many numbers beside a picture or a text are there for the model, not for the person.
let unfolded = false;
function folded(list, n) {
  const details = make("details", [make("summary", plural(n, "other column")), list]);
  details.open = unfolded;
  details.addEventListener("toggle", () => { unfolded = details.open; });
  return details;
}

function content(row, cell) {
  if (cell.kind === "empty") return [make("span", "empty", { class: "empty" })];
  if (!cell.n_characters) return [document.createTextNode(cell.text)];
  const all = make("button", `show all ${count(cell.n_characters)} characters`, { type: "button", class: "whole" });
  const text = document.createTextNode(`${cell.text} …`);
  all.addEventListener("click", async () => {
    const whole = await get(`row/${row.row}?whole=1`).catch(lost);
    if (!whole) return;
    text.textContent = whole.cells.find((other) => other.name === cell.name).text;
    all.remove();
  });
  return [text, all];
}

function picture(row) {
  const image = make("img", "", { loading: "lazy", src: `image/${row.row}`, alt: `Picture of row ${row.row + 1}` });
  image.addEventListener("load", () => image.classList.toggle("tiny", image.naturalWidth <= TINY_PIXELS));
  image.addEventListener("error", async () => {
    const reason = await fetch(image.src).then((answer) => answer.text()).catch(() => "");
    const why = reason.length < 300 && reason ? reason : "The picture cannot be shown.";
    image.replaceWith(make("p", why, { class: "missing-image" }));
  });
  return image;
}

// A class that is called 7 has the key 7; others have the keys that are left, in their order.
function keysOf(names) {
  const keys = new Map(names.filter((name) => /^[0-9]$/.test(name)).map((name) => [name, name]));
  const free = [..."123456789"].filter((key) => !keys.has(key));
  for (const name of names) if (!keys.has(name) && free.length) keys.set(name, free.shift());
  return keys;
}

function showClasses() {
  const group = $("classes");
  const keys = keysOf(state.classes);
  fill(group, state.classes, () => state.classes.map((name) => {
    const key = keys.get(name);
    const button = make("button", [make("span", name), key ? make("kbd", key) : null], { type: "button" });
    button.dataset.name = name;
    if (key) button.dataset.key = key;
    button.addEventListener("click", () => answer(name));
    return button;
  }));
  group.classList.toggle("many", state.classes.length > MANY_CLASSES);
  fill($("names"), state.classes, () => state.classes.map((name) => make("option", "", { value: name })));
  $("new-name").placeholder = state.classes.length ? "Class by name" : "Type the class of this row";
  document.querySelector(".others").classList.toggle("first", !state.classes.length);
  const given = shown && shown.answer ? shown.answer.label : undefined;
  for (const button of group.children) button.classList.toggle("given", button.dataset.name === given);
  busy(Boolean(sending));
}

function mark(label) {
  for (const button of $("classes").children) button.classList.toggle("chosen", button.dataset.name === label);
}

function busy(is) {
  const off = is || !state || state.finishing;
  $("main").setAttribute("aria-busy", is);
  for (const button of $("classes").children) button.disabled = off || !shown;
  $("unknown").disabled = off || !shown;
  $("skip").disabled = off || !shown || looking;
  $("undo").disabled = off || !state || !state.recent.length;
}

// --- the side panel --------------------------------------------------------------------------

function showPanel() {
  const { summary, certificate } = state;
  $("n-labels").textContent = count(summary.n_labels);
  $("n-rows").textContent = summary.n_unknown ? `and ${count(summary.n_unknown)} × don’t know` : `of ${plural(summary.n_rows, "row")}`;
  $("error").textContent = summary.error === null ? "–" : percent(summary.error);
  $("interval").textContent = summary.interval
    ? `at most ${percent(summary.interval[1])} of the answers` : summary.error === null ? "after a few labels" : "the model’s own guess";
  if (summary.interval && summary.interval[0] > 0) $("interval").textContent =
    `between ${percent(summary.interval[0])} and ${percent(summary.interval[1])}`;
  showPromise(summary, certificate);
  $("curve-section").hidden = summary.history.length < 2;
  fill($("curve"), [summary.history, certificate.max_error], () => [curve(summary.history, certificate.max_error)]);
  const counts = state.classes.map((name) => [name, summary.class_counts[name] || 0]);
  $("balance-section").hidden = !counts.length;
  fill($("balance"), counts, () => bars(counts));
  $("suspects-section").hidden = !summary.suspects.length;
  fill($("suspects"), summary.suspects, () => summary.suspects.map((row) => item(row,
    `${words(row.answer)}?`, row.probability === null ? "" : `${percent(row.probability, 0)} likely`)));
  $("recent-section").hidden = !state.recent.length;
  fill($("recent"), state.recent, () => state.recent.map((row) => item(row,
    row.action === "skip" ? "skipped" : words(row.answer), `row ${count(row.row + 1)}`)));
}

function showPromise(summary, certificate) {
  const goal = certificate.max_error;
  $("promise").hidden = goal === null;
  if (goal === null) return;
  const holds = certificate.holds;
  $("promise").classList.toggle("holds", holds);
  $("promise-mark").textContent = holds ? "✓" : "";
  $("promise-title").textContent = holds ? "The promise holds" : "Not yet promised";
  const share = holds ? certificate.share_answered : summary.share_answered || 0;
  $("promise-bar").style.width = `${100 * share}%`;
  const more = summary.n_more_labels === null || summary.share_after === null ? ""
    : `; about ${plural(summary.n_more_labels, "more label")} for ${percent(summary.share_after, 0)}`;
  $("promise-text").textContent = holds
    ? `At ${percent(goal)} error, ${percent(share, 0)} of the rest of your file can be answered now${more}.`
    : summary.error === null ? `The goal is at most ${percent(goal)} error. Label a few rows first.`
      : `At ${percent(goal)} error, the model expects to answer ${percent(share, 0)} of the rest${more}. Blind questions test this.`;
  $("promise-detail").textContent = holds
    ? `Of these answers at most ${percent(goal)} are wrong, with a probability of ${percent(certificate.confidence_level)}. Other rows are refused.`
    : certificate.message;
  $("finish").classList.toggle("ready", holds);
}

function curve(history, goal) {
  const width = 300, height = 110, left = 34, bottom = 92, top = 8, right = 292;
  const known = history.filter((point) => point[1] !== null);
  // The first intervals are as wide as can be, and would flatten the line.
  const highest = Math.min(1, Math.max(0.02, 1.3 * Math.max(0, ...known.map((p) => p[1])), (goal ?? 0) * 1.5));
  const first = known.length ? known[0][0] : 0, last = known.length ? known[known.length - 1][0] : 1;
  const x = (n) => left + (right - left) * (n - first) / Math.max(last - first, 1);
  const y = (e) => bottom - (bottom - top) * Math.min(e / highest, 1);
  const line = known.map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`);
  const banded = known.filter((p) => p[2] !== null && p[3] !== null && p[3] < 1); // 1: not known yet
  const band = [...banded.map((p) => `${x(p[0]).toFixed(1)},${y(p[3]).toFixed(1)}`),
    ...banded.reverse().map((p) => `${x(p[0]).toFixed(1)},${y(p[2]).toFixed(1)}`)];
  const end = known.length ? known[known.length - 1] : [0, 0];
  const told = `The estimated error fell to ${percent(end[1])} after ${plural(end[0], "label")}.`;
  const parts = [
    draw("line", { class: "axis", x1: left, y1: bottom, x2: right, y2: bottom }),
    draw("polygon", { class: "band", points: band.join(" ") }),
    draw("polyline", { class: "line", points: line.join(" ") }),
    draw("circle", { class: "end", cx: x(end[0]), cy: y(end[1]), r: 3.5 }),
    label(0, y(highest) + 8, percent(highest, 0)), label(0, bottom + 4, "0 %"),
    label(left, height, plural(first, "label")), label(right, height, count(last), "end"),
  ];
  if (goal !== null && goal <= highest) {
    parts.push(draw("line", { class: "goal", x1: left, y1: y(goal), x2: right, y2: y(goal) }));
    if (y(goal) > top + 18 && y(goal) < bottom - LINE_PIXELS) parts.push(label(0, y(goal) + 4, percent(goal)));
  }
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height + 6}`, role: "img", "aria-label": told });
  svg.append(...parts);
  return svg;
}

function draw(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function label(x, y, text, anchor = "start") {
  const element = draw("text", { x, y, "text-anchor": anchor });
  element.textContent = text;
  return element;
}

function bars(counts) {
  const most = Math.max(1, ...counts.map(([, n]) => n));
  return counts.map(([name, n]) => {
    const bar = make("i");
    bar.style.width = `${100 * n / most}%`;
    bar.hidden = n === 0;
    return make("div", [make("span", name, { title: name }), make("span", [bar]), make("span", count(n))], { class: "bar" });
  });
}

function item(row, strong, aside) {
  const button = make("button", [make("b", strong), make("span", aside, { class: "soft" }),
    row.image ? picture(row) : make("span", row.preview, { class: "line" })],
  { type: "button", "aria-label": `Look at row ${row.row + 1} again: ${strong}` });
  button.addEventListener("click", () => lookAt(row.row));
  return make("li", [button]);
}

async function lookAt(row) {
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  const found = await get(`row/${row}`).catch(lost);
  if (!found || sending) return;
  looking = !(state.question && state.question.row === row);
  show(found);
  showClasses();
  window.scrollTo(0, 0);
}

function back() {
  looking = false;
  show(state.question);
  showClasses();
}

// --- notices, search, help, end --------------------------------------------------------------

function notice(text, buttons = [], kind = "error") {
  $("notice-text").textContent = text;
  $("notice-buttons").replaceChildren(...buttons, closer());
  $("notice").dataset.kind = kind;
  $("notice").classList.toggle("fine", kind === "fine");
  $("notice").hidden = false;
}

function closer() {
  const button = make("button", "OK", { type: "button", class: "quiet" });
  button.addEventListener("click", hideNotice);
  return button;
}

function hideNotice() {
  $("notice").hidden = true;
  $("notice").dataset.kind = "";
}

let searchTimer = 0;
function search() {
  clearTimeout(searchTimer);
  searchTimer = setTimeout(async () => {
    const text = $("search-text").value.trim();
    const found = text ? await get(`search?text=${encodeURIComponent(text)}`).catch(lost) : [];
    if (!found || text !== $("search-text").value.trim()) return;
    $("search-count").textContent = !text ? "" : found.length === 50 ? "The first 50 rows:" : `${plural(found.length, "row")}`;
    $("found").replaceChildren(...found.map((row) => item(row, `Row ${count(row.row + 1)}`, row.answer ? words(row.answer) : "")));
  }, SEARCH_DELAY_MS);
}

function openSearch() {
  $("search").showModal();
  $("search-text").select();
}

async function openGrid() {
  const answered = await get("answers").catch(lost);
  if (!answered || document.querySelector("dialog[open]")) return;
  $("grid-text").textContent = !answered.length ? "There are none yet." : "Choose a row to change its answer. The latest are first.";
  $("small-rows").replaceChildren(...answered.map((row) => {
    const button = make("button", [make("b", words(row.answer)), row.image ? picture(row) : make("span", row.preview, { class: "line" }),
      make("span", `row ${count(row.row + 1)}`, { class: "soft" })], { type: "button" });
    button.addEventListener("click", () => lookAt(row.row));
    return button;
  }));
  $("grid").showModal();
  ($("small-rows").querySelector("button") || $("grid").querySelector(".close")).focus();
}

function askToFinish() {
  $("end-title").textContent = "Finish?";
  $("end-text").textContent = `${toWrite()} The same command goes on later.`;
  $("files").replaceChildren();
  $("end-yes").hidden = $("end-no").hidden = false;
  $("end").showModal();
}

function toWrite() {
  const model = state.about.model ? ", the model" : "";
  const goal = state.certificate.max_error;
  if (goal === null) return `This writes the labeled file and the answers for all other rows${model}, and ends the session.`;
  if (state.certificate.holds) return `This writes the labeled file, the answers for all other rows${model} and a report, and ends the session.`;
  return `Nothing is promised yet: if you finish now, all other rows are refused. This writes the labeled file${model}, and ends the session.`;
}

async function finish() {
  n_sent += 1;
  $("end-yes").disabled = true;
  const news = await post("finish", {}).catch(lost);
  $("end-yes").disabled = false;
  if (news) take(news);
  else $("end").close(); // what went wrong is said on the page
}

function showEnd() {
  const written = state.results;
  $("end-title").textContent = written ? "Finished" : "Writing the files …";
  $("end-text").textContent = written ? "You can close this page. Run the same command to go on labeling." : "This takes a few seconds.";
  $("files").replaceChildren(...(written || []).map((file) => make("li", [make("b", file.name), make("p", file.what, { class: "soft" })])));
  $("end-yes").hidden = $("end-no").hidden = true;
  $("end").classList.add("writing");
  if (!$("end").open) $("end").showModal();
}

function closeEnd() {
  $("end").classList.remove("writing");
  $("end").close();
}

// --- keys and clicks -------------------------------------------------------------------------

const KEYS = {
  d: () => !$("unknown").disabled && answer(null),
  s: () => !$("skip").disabled && act({ action: "skip", row: shown.row }),
  u: () => !$("undo").disabled && act({ action: "undo" }),
  n: () => $("new-name").focus(),
  g: openGrid,
  "/": openSearch, "?": () => $("help").showModal(),
  escape: () => looking && back(),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof Element && event.target.closest("input, textarea, dialog");
  if (event.key === "Escape" && event.target.id === "new-name") return event.target.blur();
  if (typing || event.repeat || event.altKey || event.metaKey || !state) return;
  const key = event.key.toLowerCase();
  if (event.ctrlKey) {
    if (key !== "z") return;
    event.preventDefault();
    return KEYS.u();
  }
  if (/^[0-9]$/.test(key)) {
    const button = [...$("classes").children].find((other) => other.dataset.key === key);
    if (!button) return key === "0" ? KEYS.d() : undefined;
    if (!button.disabled) answer(button.dataset.name);
  } else if (KEYS[key]) {
    event.preventDefault();
    KEYS[key]();
  }
});

$("unknown").addEventListener("click", KEYS.d);
$("skip").addEventListener("click", KEYS.s);
$("undo").addEventListener("click", KEYS.u);
$("back").addEventListener("click", back);
$("open-search").addEventListener("click", openSearch);
$("open-grid").addEventListener("click", openGrid);
$("open-help").addEventListener("click", KEYS["?"]);
$("finish").addEventListener("click", askToFinish);
$("end-yes").addEventListener("click", finish);
$("end").addEventListener("cancel", (event) => $("end").classList.contains("writing") && event.preventDefault());
$("search-text").addEventListener("input", search);
$("search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const first = $("found").querySelector("button");
  if (first) first.click();
});
$("new-class").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = $("new-name").value.trim();
  if (!name || sending) return;
  $("new-name").value = "";
  $("new-name").blur();
  answer(name);
});
for (const button of document.querySelectorAll("dialog .close")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}
document.addEventListener("visibilitychange", () => document.hidden || sending || refresh());

refresh();
poll();
