/** A deterministic random generator: the same seed produces the same numbers. */
export interface SeededRandom {
  /** An integer between both bounds, inclusive. */
  between(min: number, max: number): number;
  /** Random letters and digits. */
  letters(count: number): string;
  /** Random hex digits. */
  hex(count: number): string;
  /** A UUID of version 4. */
  uuid(): string;
}

export function createSeededRandom(...seed: readonly (string | number)[]): SeededRandom {
  const next = mulberry32(hashText(seed.join("\u0000")));
  const between = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  const pick = (alphabet: string, count: number): string =>
    Array.from({ length: count }, () => alphabet[between(0, alphabet.length - 1)]).join("");
  return {
    between,
    letters: (count) => pick(LETTERS, count),
    hex: (count) => pick(HEX, count),
    uuid: () =>
      [pick(HEX, 8), pick(HEX, 4), `4${pick(HEX, 3)}`, `a${pick(HEX, 3)}`, pick(HEX, 12)].join("-"),
  };
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX = "0123456789abcdef";

/** FNV-1a over UTF-16. */
function hashText(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  return value >>> 0;
}

function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
