"""Write orders.csv, an export with all traps, and new_orders.csv into a folder."""

import sys
import uuid
from pathlib import Path

import numpy as np
import pandas as pd

N_ROWS = 600
WORDS = ["gut", "schnell", "teuer", "nie", "wieder", "Lieferung", "kaputt", "super"]


def german(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def make_orders(seed: int = 0) -> pd.DataFrame:
    """Return orders sorted by class, with numbers as people in Germany write them."""
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(0, 3, N_ROWS))
    x = rng.normal(size=N_ROWS) + y
    age = rng.integers(18, 80, N_ROWS) + 3 * y
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, N_ROWS), "D")
    closed = pd.Timestamp("2023-01-01") + pd.to_timedelta(
        200 * y + rng.integers(0, 190, N_ROWS), "D"
    )
    table = pd.DataFrame(
        {
            "Kunde": [f"K{i:05d}" for i in rng.permutation(N_ROWS)],
            "Schlüssel": [uuid.UUID(int=int(v) << 60) for v in rng.integers(0, 2**62, N_ROWS)],
            "Alter": age,
            "Umsatz": [f"{german(v)} €" for v in np.exp(7 + x / 2)],
            "Anteil": [f"{v:.1f} %".replace(".", ",") for v in 50 * rng.random(N_ROWS) + 5 * y],
            "Größe": [f"{v:.3f}".replace(".", ",") for v in rng.normal(size=N_ROWS) + x],
            "PLZ": rng.choice(["01067", "04109", "10115", "80331", "99084"], N_ROWS),
            "Bestellt": day.strftime("%d.%m.%Y"),
            "Bezahlt": closed.strftime("%d.%m.%Y"),
            "Land": "DE",
            "Notiz": [" ".join(rng.choice(WORDS, 6)) for _ in range(N_ROWS)],
            "Alter2": age,
            "Stufe": np.array(["A", "B", "C"])[y],
            "Rabatt": np.where(rng.random(N_ROWS) < 0.01, 0, y),
            "Klasse": np.array(["01", "1", "2"])[y],
        }
    )
    table.loc[::9, "Umsatz"] = "k.A."
    table.loc[5, "Größe"] = "abc"
    table.loc[7, "Klasse"] = "9"
    return table


def main(folder: str) -> None:
    orders = make_orders()
    orders.to_csv(Path(folder) / "orders.csv", sep=";", encoding="cp1252")
    new = make_orders(seed=1).drop(columns="Klasse").iloc[::3]
    new["Alter"] += 30
    new.loc[new.index[:4], "PLZ"] = ["20095", "20095", "50667", "60311"]
    new.to_csv(Path(folder) / "new_orders.csv", sep=";", index=False)


if __name__ == "__main__":
    main(sys.argv[1])
