/** Formats a number of bytes, such as `512 B`, `1.5 KB` and `20 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const power = Math.min(BYTE_UNITS.length, Math.floor(Math.log10(bytes) / 3));
  return `${formatShort(bytes / 1000 ** power)} ${BYTE_UNITS[power - 1] ?? ""}`;
}

const BYTE_UNITS = ["KB", "MB", "GB"];

/** Formats a count in at most five characters, such as `940`, `12.3k` and `1.2M`. */
export function formatCount(count: number): string {
  if (count < 1000) return String(Math.round(count));
  if (count < 999_500) return `${formatShort(count / 1000)}k`;
  return `${formatShort(count / 1_000_000)}M`;
}

function formatShort(value: number): string {
  return value < 99.95 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
}
