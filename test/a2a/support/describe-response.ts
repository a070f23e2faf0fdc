import { isObject } from "../../../src/data/json.ts";
import { readEvents } from "./read-events.ts";

/**
 * Describes a response for a comparison: its status, and the error or the fields of the result. Ids, texts, times and
 * metadata are left out, and so is the reason of an error that JSON-RPC itself defines.
 */
export async function describeResponse(response: Response): Promise<string> {
  const [type = ""] = (response.headers.get("content-type") ?? "").split(";");
  if (type === "text/event-stream") return `${response.status} ${await describeStream(response)}`;
  const text = await response.text();
  if (!type.endsWith("json")) return `${response.status} ${type}`;
  const body: unknown = JSON.parse(text);
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : undefined;
  if (error === undefined) return `${response.status} ${type} ${describeFields(body)}`;
  const id = isObject(body) && "jsonrpc" in body ? ` id ${JSON.stringify(body["id"])}` : "";
  return `${response.status}${id} ${describeError(error)}`;
}

/** The kinds of the events, and the fields of the first. An open task's stream has no end. */
async function describeStream(response: Response): Promise<string> {
  const kinds = new Set<string>();
  let first: unknown;
  for await (const { data } of readEvents(response)) {
    const entry: unknown = data.result ?? data;
    first ??= entry;
    if (isObject(entry)) for (const kind of Object.keys(entry)) kinds.add(kind);
    if (JSON.stringify(entry).includes("TASK_STATE_INPUT_REQUIRED")) break;
  }
  return `stream of ${[...kinds].join(", ")}: ${describeFields(first)}`;
}

function describeError({
  code,
  status,
  data,
  details,
}: {
  readonly [key: string]: unknown;
}): string {
  const list = data ?? details;
  const [info]: readonly unknown[] = Array.isArray(list) ? list : [];
  const reason = isObject(info) && typeof info["reason"] === "string" ? info["reason"] : "none";
  if (typeof code === "number" && code < 0) return `${code}${code > -32_100 ? ` ${reason}` : ""}`;
  return `${String(code)} ${String(status)}${GENERAL_REASONS.has(reason) ? "" : ` ${reason}`}`;
}

/** The reasons of errors which A2A does not define. */
const GENERAL_REASONS: ReadonlySet<string> = new Set([
  "INVALID_PARAMS",
  "INVALID_REQUEST",
  "INVALID_JSON",
  "METHOD_NOT_FOUND",
]);

/** The names of all fields, with the values of states and numbers. */
function describeFields(value: unknown, name = ""): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `[${describeFields(value[0])}]`;
  if (isObject(value)) {
    const fields = Object.keys(value).filter((key) => key !== "metadata" && key !== "jsonrpc");
    return `{${fields
      .sort()
      .map((key) => `${key}${describeFields(value[key], key)}`)
      .join(" ")}}`;
  }
  if (name === "state" || name === "role" || name === "kind" || typeof value === "number")
    return `=${String(value)}`;
  return value === "" ? "=empty" : "";
}
