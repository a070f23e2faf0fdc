import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import {
  readNumber,
  readObjects,
  readString,
  readStrings,
  type DecodeResult,
  accept,
  rejectParams,
} from "../json-fields.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** A request to read a file. Agents send these requests only to editors with the file and terminal capabilities. */
export interface FileRead {
  readonly sessionId: string;
  readonly path: string;
  /** First line, counted from 1. Absent: from the start of the file. */
  readonly line?: number;
  /** Maximum number of lines. Absent: all lines. */
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

export interface TerminalReference {
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
  /** Absent while the command runs. */
  readonly exitStatus?: TerminalExit;
}

export function decodeFileRead(params: JsonValue | undefined): DecodeResult<FileRead> {
  const texts = decodeStringFields(params, ["sessionId", "path"]);
  if (!texts.ok) return texts;
  const { fields } = texts.value;
  const [sessionId = "", path = ""] = texts.value.texts;
  const line = readNumber(fields["line"]);
  return accept({
    sessionId,
    path,
    ...omitUndefined({ line, limit: readNumber(fields["limit"]) }),
  });
}

export function decodeFileWrite(params: JsonValue | undefined): DecodeResult<FileWrite> {
  const texts = decodeStringFields(params, ["sessionId", "path", "content"]);
  if (!texts.ok) return texts;
  const [sessionId = "", path = "", content = ""] = texts.value.texts;
  return accept({ sessionId, path, content });
}

export function decodeTerminalStart(params: JsonValue | undefined): DecodeResult<TerminalStart> {
  const texts = decodeStringFields(params, ["sessionId", "command"]);
  if (!texts.ok) return texts;
  const { fields } = texts.value;
  const [sessionId = "", command = ""] = texts.value.texts;
  return accept({
    sessionId,
    command,
    args: readStrings(fields["args"]),
    environment: readObjects(fields["env"]).flatMap(({ name, value }) =>
      typeof name === "string" && typeof value === "string" ? [{ name, value }] : [],
    ),
    ...omitUndefined({
      workingDirectory: readString(fields["cwd"]),
      outputByteLimit: readNumber(fields["outputByteLimit"]),
    }),
  });
}

export function decodeTerminalReference(
  params: JsonValue | undefined,
): DecodeResult<TerminalReference> {
  const texts = decodeStringFields(params, ["sessionId", "terminalId"]);
  if (!texts.ok) return texts;
  const [sessionId = "", terminalId = ""] = texts.value.texts;
  return accept({ sessionId, terminalId });
}

function decodeStringFields(
  params: JsonValue | undefined,
  names: readonly string[],
): DecodeResult<{ readonly fields: JsonObject; readonly texts: readonly string[] }> {
  if (!isObject(params)) return rejectParams("they are not an object");
  const texts: string[] = [];
  for (const name of names) {
    const text = readString(params[name]);
    if (text === undefined) return rejectParams(`"${name}" is missing`);
    texts.push(text);
  }
  return accept({ fields: params, texts });
}
