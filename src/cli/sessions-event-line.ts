import type { Envelope } from "../domain/envelope.ts";
import { jsonText } from "../domain/json.ts";
import { oneLine, type Style } from "../inspect/style.ts";
import { isoTime } from "../domain/iso-time.ts";

/** An event of a log on one line: its number, its time, its type, and the rest as JSON. */
export function eventLine({ seq, at, event }: Envelope, style: Style): string {
  const { type, ...rest } = event;
  const facts = `${String(seq).padStart(6)}  ${isoTime(at)}`;
  return `${style.dim(facts)}  ${style.strong(type)}  ${oneLine(jsonText(rest))}\n`;
}
