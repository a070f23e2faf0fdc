import { toSingleLine } from "../../../inspect/trace-style.ts";

/** A text as one word of a command that somebody may copy: an agent may call its sessions whatever it likes. */
export function quoteShellWord(text: string): string {
  const line = toSingleLine(text);
  return /^[\w./:@%+=,-]+$/.test(line) ? line : `'${line.replaceAll("'", String.raw`'\''`)}'`;
}
