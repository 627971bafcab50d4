"use strict";
// The Tab key skips boxes that have nothing to scroll. Others get a cue, and their right edge
// fades until everything was seen.
(() => {
  const boxes = document.querySelectorAll(".box");
  const fade = (box) => {
    const hidden = box.scrollWidth - box.clientWidth - box.scrollLeft;
    box.classList.toggle("more", hidden > 1);
  };
  const fit = () => boxes.forEach((box) => {
    const wide = box.scrollWidth > box.clientWidth;
    box.tabIndex = wide ? 0 : -1;
    box.previousElementSibling.hidden = !wide;
    fade(box);
  });
  boxes.forEach((box) => box.addEventListener("scroll", () => fade(box), { passive: true }));
  addEventListener("resize", fit);
  fit();
})();
// Python has formatted every text already; the slider only shows the right one.
(() => {
  const points = JSON.parse(document.getElementById("rejection-data").textContent);
  const slider = document.getElementById("threshold");
  if (!slider) return;
  const show = () => {
    const [x, y, threshold, coverage, error, sentence] = points[Number(slider.value)];
    document.getElementById("place").setAttribute("cx", x);
    document.getElementById("place").setAttribute("cy", y);
    document.getElementById("shown-threshold").textContent = threshold;
    document.getElementById("shown-coverage").textContent = coverage;
    document.getElementById("shown-error").textContent = error;
    slider.setAttribute("aria-valuetext", sentence);
  };
  slider.addEventListener("input", show);
  document.getElementById("control").hidden = false;
  show();
})();
