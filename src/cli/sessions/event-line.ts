import type { Envelope } from "../../domain/events/envelope.ts";
import { toJsonText } from "../../data/json.ts";
import { toSingleLine, type Style } from "../../inspect/trace-style.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";

/** An event of a log on one line: its number, its time, its type, and the rest as JSON. */
export function formatEventLine({ seq, at, event }: Envelope, style: Style): string {
  const { type, ...rest } = event;
  const facts = `${String(seq).padStart(6)}  ${formatIsoTime(at)}`;
  return `${style.dim(facts)}  ${style.strong(type)}  ${toSingleLine(toJsonText(rest))}\n`;
}
