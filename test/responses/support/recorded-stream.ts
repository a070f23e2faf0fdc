import { isObject } from "../../../src/data/json.ts";
import { violationsIn } from "../stream-checker.ts";
import { eventProblems, problemsOf } from "../open-responses-schema.ts";

export type Fields = { readonly [key: string]: unknown };

/** An event as received. */
export type StreamEvent = Fields & { readonly type: string };

export interface RecordedStream {
  readonly events: readonly StreamEvent[];
  /** The response in the terminal event. */
  readonly response: Fields;
}

/** Reads a stream to its end. Throws if the framing, an event or the order of events is invalid. */
export async function recordedStream(answer: Response): Promise<RecordedStream> {
  const type = answer.headers.get("content-type") ?? "nothing";
  if (answer.status !== 200) throw new Error(`HTTP ${answer.status}: ${await answer.text()}`);
  if (!type.startsWith("text/event-stream")) throw new Error(`The stream is ${type}`);
  return checkedStream(framedEvents(await answer.text()));
}

/** Validates decoded events, independent of their transport. */
export function checkedStream(events: readonly StreamEvent[]): RecordedStream {
  const wrong = events.flatMap(eventProblems);
  if (wrong.length > 0) throw new Error(`The schema refuses the stream: ${wrong.join("; ")}`);
  const violations = violationsIn(events);
  if (violations.length > 0) {
    throw new Error(`The stream is out of order: ${JSON.stringify(violations)}`);
  }
  const response = events.at(-1)?.["response"];
  if (!isObject(response)) throw new Error("The stream ends without a response");
  const problems = problemsOf("ResponseResource", response);
  if (problems.length > 0) throw new Error(`The schema refuses the end: ${problems.join("; ")}`);
  return { events, response };
}

/**
 * Parses the events of an SSE body. A frame is `event:`, `data:` and one blank line, and the last frame is `data:
 * [DONE]`. Comments are keep-alives and carry no data.
 */
export function framedEvents(body: string): StreamEvent[] {
  if (!body.endsWith("\n\n")) throw new Error("The stream ends inside a frame");
  const frames = body
    .slice(0, -2)
    .split("\n\n")
    .filter((frame) => !frame.startsWith(":"));
  if (frames.pop() !== "data: [DONE]") throw new Error("The last frame is not data: [DONE]");
  return frames.map((frame) => {
    const match = /^event: (?<name>[^\n]+)\ndata: (?<data>[^\n]+)$/.exec(frame);
    if (match?.groups === undefined) throw new Error(`A frame is malformed: ${frame}`);
    const { name = "", data = "" } = match.groups;
    const event: unknown = JSON.parse(data);
    if (!isObject(event)) throw new Error(`A frame holds no object: ${data}`);
    if (event["type"] !== name) {
      throw new Error(`A frame is called ${name}, its event ${String(event["type"])}`);
    }
    return { ...event, type: name };
  });
}
