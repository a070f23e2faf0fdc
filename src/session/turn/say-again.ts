import { jsonText } from "../../domain/json.ts";
import { agentOf, type Work } from "../work.ts";
import type { Outgoing, Upstream, Waiting } from "./turn-state.ts";

/** The other side may have kept what it was told, or not. So it is told what it was, as something new. */
export function sayWhatWasLost(work: Work, outgoing: Outgoing): void {
  say(work, [
    "The connection was lost before your answer was complete. If you have already done what was asked, say only what came of it; do nothing twice. What you were told last was:",
    ...outgoing.texts,
    ...resultTexts(outgoing.answers),
  ]);
}

/**
 * Before the next prompt: a call that brought results was cut or failed, and its turn is over. The tools ran, whether the
 * other side knows it or not. A conversation that begins with what the log has hears it there.
 */
export function sayWhatIsUnheard(work: Work): void {
  const { upstream } = work.state.turn;
  if (upstream === null || upstream.unheard === null || isBegunAnew(work, upstream)) return;
  say(work, [
    "Your last answer was cut off, and it is not certain that you know what your tools gave before it. They have run; do nothing twice. What came of them:",
    ...resultTexts(upstream.unheard),
  ]);
}

function isBegunAnew(work: Work, { isSeeded, isHeard, isUncertain }: Upstream): boolean {
  const { provider, settle } = agentOf(work);
  if (provider.keepsHistory === false) return true;
  return (isSeeded && !isHeard) || (isUncertain && settle === "reseed");
}

function say(work: Work, texts: readonly string[]): void {
  const messageId = work.ids.next("msg");
  const content = [{ type: "text", text: texts.join("\n\n") }] as const;
  work.emit({ type: "message.sent", messageId, content, origin: "recovery" });
}

function resultTexts(answers: Waiting | null): string[] {
  return (answers?.calls ?? []).flatMap(({ call, result }) => {
    if (result === null) return [];
    const { parts, isError } = result;
    const said = parts.map((part) =>
      part.type === "text" ? part.text : jsonText(part.type === "json" ? part.value : part.raw),
    );
    return [`The tool ${call.name} ${isError ? "failed" : "gave"}: ${said.join("\n")}`];
  });
}
