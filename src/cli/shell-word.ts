import { oneLine } from "../inspect/style.ts";

/** A text as one word of a command that somebody may copy: an agent may call its sessions whatever it likes. */
export function shellWord(text: string): string {
  const shown = oneLine(text);
  return /^[\w./:@%+=,-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", String.raw`'\''`)}'`;
}
