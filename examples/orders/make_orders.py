#!/usr/bin/env python3
"""Writes windows_orders.csv: 240 orders of four shops over three hours and a half; the same rows each time.

Amounts differ from each other, and so do the shops' sums within each ten minutes, so that no ranking has a tie. Rows 20,
90 and 150 fall exactly on a window's start; row 61 comes exactly five minutes after its shop's last one.
"""
import datetime, pathlib

START = datetime.datetime(2026, 3, 14, 8, 56, 20)
SHOPS = ['harbour', 'market', 'station', 'hill']
GAP = datetime.timedelta(minutes=5)
ON_THE_DOT = {20: (9, 20), 90: (10, 20), 150: (11, 10)}


def sequence(seed):
    while True:
        seed = (seed * 1103515245 + 12345) % 2**31
        yield seed >> 8


def orders():
    draw, at, used, last = sequence(20260314), START, set(), {}
    for n in range(1, 241):
        quiet = (n // 40) % 2                       # busy and quiet stretches, so that sessions differ in length
        at += datetime.timedelta(milliseconds=7000 + next(draw) % (110000 if quiet else 55000))
        shop = SHOPS[(next(draw) % 10 * 2) // 5 % 4 if not quiet else next(draw) % 4]
        if n in ON_THE_DOT:
            hour, minute = ON_THE_DOT[n]
            dot = START.replace(hour=hour, minute=minute, second=0)
            at = max(at, dot)
        if n == 61:
            at, shop = min((t + GAP, s) for s, t in last.items() if t + GAP >= at)
        amount = 100 + next(draw) % 9000
        while amount in used:
            amount += 1
        used.add(amount)
        last[shop] = at
        yield n, shop, amount, at


if __name__ == '__main__':
    with open(pathlib.Path(__file__).resolve().parent / 'windows_orders.csv', 'w') as f:
        for n, shop, amount, at in orders():
            f.write(f'{n},{shop},{amount},{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d}\n')
