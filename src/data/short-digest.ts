/**
 * A 13-character digest of a text: 64 bits from two different hashes, so collisions are negligible in practice. Not
 * cryptographic: never use the digest to protect a secret.
 */
export function computeShortDigest(text: string): string {
  let left = 0xdeadbeef;
  let right = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    left = Math.imul(left ^ code, 0x9e3779b1);
    right = Math.imul(right ^ code, 0x5f356495);
  }
  const mixedLeft = mixHashes(left, right);
  const mixedRight = mixHashes(right, mixedLeft);
  const bits = (BigInt(mixedLeft) << 32n) | BigInt(mixedRight);
  return bits.toString(32).padStart(13, "0");
}

function mixHashes(hash: number, other: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const second = Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
  return (first ^ (first >>> 15) ^ second) >>> 0;
}
