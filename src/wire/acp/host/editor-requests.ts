import { isObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { numberOf, objectsOf, present, textOf, textsOf } from "../fields.ts";
import { type Decoded, decoded, refusedParams } from "../decoded.ts";

/** What an agent asks of an editor's files and terminals, where the editor offered them. */
export interface FileRead {
  readonly sessionId: string;
  readonly path: string;
  /** Counted from 1. */
  readonly line?: number;
  /** Lines. */
  readonly limit?: number;
}

export interface FileWrite {
  readonly sessionId: string;
  readonly path: string;
  readonly content: string;
}

export interface TerminalStart {
  readonly sessionId: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: readonly { readonly name: string; readonly value: string }[];
  readonly workingDirectory?: string;
  readonly outputByteLimit?: number;
}

export interface TerminalName {
  readonly sessionId: string;
  readonly terminalId: string;
}

export interface TerminalExit {
  readonly exitCode?: number | null;
  readonly signal?: string | null;
}

export interface TerminalOutput {
  readonly output: string;
  readonly truncated: boolean;
  /** Absent while it runs. */
  readonly exitStatus?: TerminalExit;
}

export function readFileRead(params: JsonValue | undefined): Decoded<FileRead> {
  const texts = textFields(params, ["sessionId", "path"]);
  if (!texts.ok) return texts;
  const { fields } = texts.value;
  const [sessionId = "", path = ""] = texts.value.texts;
  const line = numberOf(fields["line"]);
  return decoded({ sessionId, path, ...present({ line, limit: numberOf(fields["limit"]) }) });
}

export function readFileWrite(params: JsonValue | undefined): Decoded<FileWrite> {
  const texts = textFields(params, ["sessionId", "path", "content"]);
  if (!texts.ok) return texts;
  const [sessionId = "", path = "", content = ""] = texts.value.texts;
  return decoded({ sessionId, path, content });
}

export function readTerminalStart(params: JsonValue | undefined): Decoded<TerminalStart> {
  const texts = textFields(params, ["sessionId", "command"]);
  if (!texts.ok) return texts;
  const { fields } = texts.value;
  const [sessionId = "", command = ""] = texts.value.texts;
  return decoded({
    sessionId,
    command,
    args: textsOf(fields["args"]),
    environment: objectsOf(fields["env"]).flatMap(({ name, value }) =>
      typeof name === "string" && typeof value === "string" ? [{ name, value }] : [],
    ),
    ...present({
      workingDirectory: textOf(fields["cwd"]),
      outputByteLimit: numberOf(fields["outputByteLimit"]),
    }),
  });
}

export function readTerminalName(params: JsonValue | undefined): Decoded<TerminalName> {
  const texts = textFields(params, ["sessionId", "terminalId"]);
  if (!texts.ok) return texts;
  const [sessionId = "", terminalId = ""] = texts.value.texts;
  return decoded({ sessionId, terminalId });
}

function textFields(
  params: JsonValue | undefined,
  names: readonly string[],
): Decoded<{ readonly fields: JsonObject; readonly texts: readonly string[] }> {
  if (!isObject(params)) return refusedParams("they are not an object");
  const texts: string[] = [];
  for (const name of names) {
    const text = textOf(params[name]);
    if (text === undefined) return refusedParams(`"${name}" is missing`);
    texts.push(text);
  }
  return decoded({ fields: params, texts });
}
