/** Describes the type of a binary file from its first bytes. Undefined for text. */
export function detectBinaryKind(beginning: Uint8Array): string | undefined {
  const match = SIGNATURES.find(([, signature]) =>
    signature.every((byte, at) => beginning[at] === byte),
  );
  if (match !== undefined) return match[0];
  return beginning.includes(0) ? "binary data" : undefined;
}

/** Bytes of a file examined for its type. */
export const SNIFF_BYTES = 8192;

const SIGNATURES: readonly (readonly [string, readonly number[]])[] = [
  ["a PNG image", [0x89, 0x50, 0x4e, 0x47]],
  ["a JPEG image", [0xff, 0xd8, 0xff]],
  ["a GIF image", [0x47, 0x49, 0x46, 0x38]],
  ["a PDF document", [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ["a ZIP archive or a document made of one", [0x50, 0x4b, 0x03, 0x04]],
  ["gzip data", [0x1f, 0x8b]],
  ["a program (ELF)", [0x7f, 0x45, 0x4c, 0x46]],
  ["an SQLite database", [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66]],
  ["text in UTF-16", [0xff, 0xfe]],
  ["text in UTF-16", [0xfe, 0xff]],
];
