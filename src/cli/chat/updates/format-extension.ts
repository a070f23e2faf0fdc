import { isObject, type JsonObject } from "../../../data/json.ts";
import { formatTranscriptNote } from "./transcript-note.ts";

/** The text of a vendor update. */
export interface ExtensionLine {
  readonly sign: string;
  readonly text: string;
  readonly tone?: "warn" | "dim";
}

/** Returns undefined for an update which the chat does not show. */
export function formatExtension(name: string, fields: JsonObject): ExtensionLine | undefined {
  switch (name) {
    case "log": {
      const { message, level } = fields;
      if (typeof message !== "string") return undefined;
      const isPlain = level === "info" || level === "debug";
      return isPlain ? { sign: "·", text: message } : { sign: "!", text: message, tone: "warn" };
    }
    case "progress":
      return formatProgressLine(fields);
    case "fs_watch":
      return formatChangesLine(fields);
    case "artifact":
      return formatArtifactLine(fields);
    case "handoff":
      return formatHandoffLine(fields);
    case "transcript_compacted":
    case "transcript_projected":
      return formatTranscriptLine(name, fields);
    default:
      return undefined;
  }
}

function formatTranscriptLine(name: string, fields: JsonObject): ExtensionLine | undefined {
  const text = formatTranscriptNote(name, fields);
  return text === undefined ? undefined : { sign: "·", text, tone: "dim" };
}

function formatChangesLine({ events }: JsonObject): ExtensionLine | undefined {
  if (!Array.isArray(events)) return undefined;
  const changes = events.flatMap((event: unknown) => {
    const { kind, relative_paths: paths, error } = isObject(event) ? event : {};
    if (typeof error === "string") return [error];
    if (typeof kind !== "string" || !Array.isArray(paths)) return [];
    return [
      `${kind} ${paths.slice(0, MAX_PATHS).join(", ")}${paths.length > MAX_PATHS ? ", …" : ""}`,
    ];
  });
  return { sign: "·", text: `Files changed: ${changes.join("; ")}` };
}

const MAX_PATHS = 10;

/** The progress of a tool is part of its card. */
function formatProgressLine(fields: JsonObject): ExtensionLine | undefined {
  const { phase, message, progress, total } = fields;
  if (phase === "tool" || typeof message !== "string") return undefined;
  const whole = typeof total === "number" ? ` of ${total}` : "";
  const text = typeof progress === "number" ? `${message} (${progress}${whole})` : message;
  return { sign: "…", text };
}

/** The title, and the artifact as text below. */
function formatArtifactLine({ kind, title, fallback }: JsonObject): ExtensionLine | undefined {
  if (typeof kind !== "string" || typeof fallback !== "string") return undefined;
  const lines = fallback.split("\n");
  const shown = lines.slice(0, MAX_FALLBACK_LINES).map((line) => line.slice(0, MAX_LINE_LENGTH));
  const rest = lines.length > shown.length ? ["…"] : [];
  const heading = typeof title === "string" ? `${kind}: ${title}` : kind;
  return { sign: "◆", text: [heading, ...shown, ...rest].join("\n") };
}

const MAX_FALLBACK_LINES = 20;
const MAX_LINE_LENGTH = 400;

function formatHandoffLine({ handoff }: JsonObject): ExtensionLine | undefined {
  if (!isObject(handoff)) return undefined;
  const { target_persona_or_human: target, task } = handoff;
  const label = isObject(target) ? target["label"] : undefined;
  if (typeof label !== "string" || typeof task !== "string") return undefined;
  return { sign: "→", text: `Handoff to ${label}: ${task}` };
}
