import { SpanlineError } from "../../domain/errors.ts";
import { parseJson } from "../../domain/json.ts";
import { detached } from "../../domain/kept-text.ts";
import type { StreamMessage } from "../../domain/stream-message.ts";
import type { Frame } from "./eventstream.ts";

/**
 * Reads a frame by the conventions of AWS services. `:message-type` decides first: an exception that also
 * carries an event type is still an exception, and so is one that lacks the message type.
 */
export function readStreamMessage(frame: Frame): StreamMessage {
  const kind = header(frame, ":message-type") ?? inferredKind(frame);
  switch (kind) {
    case "event":
      return readEvent(frame);
    case "exception": {
      const name = header(frame, ":exception-type") ?? header(frame, ":event-type") ?? "exception";
      return { type: "exception", name, payload: readException(frame) };
    }
    case "error": {
      const name = header(frame, ":error-code") ?? "error";
      const message = header(frame, ":error-message") ?? keptText(frame);
      return { type: "exception", name, payload: { message } };
    }
    case undefined:
      return protocolError(frame, "has no :message-type header");
    default:
      return {
        type: "malformed",
        name: kind,
        reason: `Frame ${frame.ordinal} has the unknown message type "${kind}"`,
        raw: keptText(frame),
      };
  }
}

function inferredKind(frame: Frame): string | undefined {
  if (frame.headers.has(":exception-type")) return "exception";
  if (frame.headers.has(":error-code")) return "error";
  return undefined;
}

function readEvent(frame: Frame): StreamMessage {
  const name = header(frame, ":event-type");
  if (name === undefined) return protocolError(frame, "is an event without an :event-type header");
  const raw = frame.text();
  if (raw === "") return { type: "event", name, payload: {} };
  const parsed = parseJson(raw);
  if (parsed.ok) return { type: "event", name, payload: parsed.value };
  const reason = `Payload of "${name}" cannot be read: ${parsed.reason}`;
  return { type: "malformed", name, reason, raw: detached(raw) };
}

/** An exception's body is often empty or plain text; it must not hide that there was one. */
function readException(frame: Frame): unknown {
  const raw = frame.text();
  const parsed = parseJson(raw);
  return parsed.ok ? parsed.value : { message: detached(raw) };
}

function protocolError(frame: Frame, problem: string): StreamMessage {
  const { ordinal, offset } = frame;
  const error = new SpanlineError(
    "protocol_error",
    `Frame ${ordinal} at byte ${offset} ${problem}`,
    {
      details: { offset, ordinal },
    },
  );
  return { type: "failure", failure: error.toFailure() };
}

/** Outlives the window that the frame came in. */
function keptText(frame: Frame): string {
  return detached(frame.text());
}

function header(frame: Frame, name: string): string | undefined {
  const found = frame.headers.get(name);
  return found?.type === "string" ? found.value : undefined;
}
