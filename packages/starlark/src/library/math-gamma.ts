/**
 * The gamma function, by the approximations of the Cephes library (Moshier 1989): a
 * quotient of polynomials on [2, 3], which the recurrence extends, and Stirling's
 * series beyond 33. Accurate to a few units in the last place.
 */

/** Γ(x): the factorial of `x - 1` for a positive integer; NaN at negative integers and -∞. */
export function gamma(x: number): number {
  if (Number.isNaN(x) || x === Number.NEGATIVE_INFINITY || (x < 0 && Number.isInteger(x))) return Number.NaN;
  if (x === Number.POSITIVE_INFINITY) return x;
  if (x === 0) return 1 / x;
  const distance = Math.abs(x);
  if (distance <= 33) return gammaByRecurrence(x);
  if (x > 0) {
    const [factor, other] = stirling(x);
    return factor * other;
  }
  return gammaByReflection(distance);
}

/** Γ(-q) for q > 33, by the reflection formula. */
function gammaByReflection(q: number): number {
  const whole = Math.floor(q);
  const sign = whole % 2 === 0 ? -1 : 1;
  let fraction = q - whole;
  if (fraction > 0.5) fraction = q - (whole + 1);
  const denominator = q * Math.sin(Math.PI * fraction);
  if (denominator === 0) return sign * Number.POSITIVE_INFINITY;
  const [factor, other] = stirling(q);
  return (sign * Math.PI) / (Math.abs(denominator) * factor) / other;
}

/**
 * Γ(x) for
 * x
 * ≤ 33: shifted into [2, 3) by Γ(x + 1) = x Γ(x).
 */
function gammaByRecurrence(given: number): number {
  let x = given;
  let factor = 1;
  while (x >= 3) {
    x -= 1;
    factor *= x;
  }
  while (x < 0) {
    if (x > -1e-9) return nearZero(x, factor);
    factor /= x;
    x += 1;
  }
  while (x < 2) {
    if (x < 1e-9) return nearZero(x, factor);
    factor /= x;
    x += 1;
  }
  if (x === 2) return factor;
  return (factor * polynomial(numerator, x - 2)) / polynomial(denominator, x - 2);
}

/** Γ(x) for x close to 0: 1 / (x (1 + γ x)), with Euler's constant. */
function nearZero(x: number, factor: number): number {
  return x === 0 ? Number.POSITIVE_INFINITY : factor / ((1 + 0.5772156649015329 * x) * x);
}

/** Γ(x) for x > 33, by Stirling's series, as two factors whose product may overflow. */
function stirling(x: number): readonly [number, number] {
  if (x > 200) return [Number.POSITIVE_INFINITY, 1];
  const inverse = 1 / x;
  const scale = Math.sqrt(2 * Math.PI) * (1 + inverse * polynomial(stirlingSeries, inverse));
  // Above 143, the power would overflow before the division.
  if (x > 143.01608) {
    const half = x ** (0.5 * x - 0.25);
    return [half, scale * (half / Math.exp(x))];
  }
  return [x ** (x - 0.5) / Math.exp(x), scale];
}

/** Evaluates a polynomial by Horner's rule, from the coefficient of the highest power down. */
function polynomial(coefficients: readonly number[], x: number): number {
  let sum = 0;
  for (const coefficient of coefficients) sum = sum * x + coefficient;
  return sum;
}

const numerator = [
  0.00016011952247675185, 0.0011913514700658638, 0.010421379756176158, 0.04763678004571372,
  0.20744822764843598, 0.4942148268014971, 1.0,
];

const denominator = [
  -2.3158187332412014e-5, 0.0005396055804933034, -0.004456419138517973, 0.011813978522206043,
  0.035823639860549865, -0.23459179571824335, 0.0714304917030273, 1,
];

const stirlingSeries = [
  0.0007873113957930937, -0.00022954996161337813, -0.0026813261780578124, 0.0034722222160545866,
  0.08333333333334822,
];
