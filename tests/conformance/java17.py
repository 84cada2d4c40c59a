"""The digits of Java 17's Double.toString and Float.toString, by their definition: digits are made until the rest is less than half the
distance to the next number, at least two if the text has an exponent. Whole numbers below 2^63 lose the digits that the
significand's bits cannot tell apart. Java 19 and later print the shortest digits instead.
"""
import fractions, math


def whole_digits(value, exponent, precision):
    untold = max(0, exponent - precision - 1)
    places = len(str(2 ** untold)) - 1
    if places:
        value, rest = divmod(value, 10 ** places)
        value += rest >= 10 ** places // 2
    return str(value), len(str(value)) + places


def digits(x, single):
    """x > 0 and finite -> (digits, point): x is 0.digits * 10^point."""
    m, e = math.frexp(x)
    exponent, smallest, full = e - 1, -126 if single else -1022, 24 if single else 53
    precision = full - max(0, smallest - exponent)
    if exponent <= 62 and x == int(x):
        text, point = whole_digits(int(x), exponent, precision)
        return text.rstrip('0'), point
    exact = fractions.Fraction(x)
    half = fractions.Fraction(2) ** (exponent - precision)
    if m == 0.5:
        half /= 2                                                # below a power of two numbers are closer
    power = math.floor((m * 2 - 1.5) * 0.289529654 + 0.176091259 + exponent * 0.301029995663981)
    rest, unit, text = exact / fractions.Fraction(10) ** power, half / fractions.Fraction(10) ** power, ''
    wide = not (exponent > -300 and rest.numerator.bit_length() < 60 and rest.denominator.bit_length() < 57)
    low = high = False
    while not (low or high):
        digit = rest.numerator // rest.denominator
        rest, unit = (rest - digit) * 10, unit * 10
        low, high = rest < unit, rest + unit >= 10 if wide else rest + unit > 10
        if text or digit or high:
            text += str(digit)
        else:
            power -= 1
        if len(text) < 2 and (power < -3 or power >= 8):
            low = high = False
    up = high and (not low or rest * 2 > 10 or (rest * 2 == 10 and int(text[-1]) % 2))
    number = int(text) + up
    return str(number).rstrip('0'), power + 1 + len(str(number)) - len(text)
