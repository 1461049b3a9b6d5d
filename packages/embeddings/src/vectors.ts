/** Vectors of length 1, so that the cosine of two of them is their dot product. Pure. */

import { EmbeddingsError } from "./embeddings-error.ts";
import { requestLimits } from "./limits.ts";

/** Returns the cosine of two vectors of length 1; undefined for vectors with different numbers of dimensions. */
export function cosine(a: Float32Array, b: Float32Array): number | undefined {
  if (a.length !== b.length) return undefined;
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += a[at]! * b[at]!;
  return sum;
}

/**
 * Reads the vectors of an answer of the endpoint.
 *
 * @param dimensions how many numbers a vector has to have; undefined for any
 * @throws {EmbeddingsError} `EMBEDDINGS_ANSWER_INVALID`
 */
export function parseVectors(body: string, count: number, dimensions: number | undefined): Float32Array[] {
  const vectors: (Float32Array | undefined)[] = Array.from({ length: count }, () => undefined);
  for (const [at, item] of itemsOf(body).entries()) {
    const index = fieldOf(item, "index") ?? at;
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= count) {
      throw invalid(`it has a vector for none of the ${count} texts`);
    }
    if (vectors[index] !== undefined) throw invalid("it has two vectors for one text");
    vectors[index] = toVector(fieldOf(item, "embedding"), dimensions);
  }
  const first = vectors[0]?.length;
  return vectors.map((vector) => {
    if (vector === undefined) throw invalid(`it does not have ${count} vectors`);
    if (vector.length !== first) throw invalid("its vectors have different numbers of dimensions");
    return vector;
  });
}

function itemsOf(body: string): readonly unknown[] {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    throw invalid("it is not JSON");
  }
  const data = fieldOf(answer, "data");
  if (!Array.isArray(data)) throw invalid('it has no list "data"');
  return data;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function toVector(numbers: unknown, dimensions: number | undefined): Float32Array {
  if (!Array.isArray(numbers) || numbers.length === 0) throw invalid("it has an entry without a vector");
  if (numbers.length > requestLimits.vectorMaxLength) {
    throw invalid(`it has a vector of more than ${requestLimits.vectorMaxLength} dimensions`);
  }
  if (dimensions !== undefined && numbers.length !== dimensions) {
    throw invalid(
      `it has a vector of ${numbers.length} dimensions instead of ${dimensions} (search.embeddings.dimensions)`,
    );
  }
  let squares = 0;
  for (const number of numbers) {
    if (typeof number !== "number" || !Number.isFinite(number)) {
      throw invalid("it has a vector with something other than numbers");
    }
    squares += number * number;
  }
  const length = Math.sqrt(squares);
  if (length === 0 || !Number.isFinite(length)) throw invalid("it has a vector without a direction");
  return Float32Array.from(numbers as number[], (number) => number / length);
}

function invalid(reason: string): EmbeddingsError {
  return new EmbeddingsError(
    "EMBEDDINGS_ANSWER_INVALID",
    `Cannot use the answer of the embeddings endpoint: ${reason}`,
  );
}
