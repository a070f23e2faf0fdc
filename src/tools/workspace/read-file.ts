import { createHash } from "node:crypto";
import { counted } from "../../domain/counted.ts";
import { toolOutput, type ToolOutput } from "../../domain/tool-output.ts";
import type { Tool } from "../tool.ts";
import { numberArgument, textArgument } from "./arguments.ts";
import { MOST_EDITOR_TEXT, type EditorText } from "./editor/editor-files.ts";
import { openFile, type OpenedFile } from "./files/open-file.ts";
import { refusal } from "./refusal.ts";
import { BEGINNING_BYTES, binaryKind } from "./text/content-kind.ts";
import { lineWindow, type WindowText } from "./text/line-window.ts";
import { inItsFolder, locateToRead } from "./workspace.ts";
import { workspaceTool, type ToolGround, type WorkspaceCall } from "./workspace-tool.ts";

export function readFileTool(ground: ToolGround): Tool {
  return workspaceTool(
    {
      name: "read_file",
      description:
        "Reads a text file of the workspace. Gives its lines with their numbers (which are not part of the text) and the " +
        "sha256 that write_file can check. Long files come in parts: go on with from_line.",
      properties: {
        path: { type: "string", description: "From the workspace, with /" },
        from_line: {
          type: "integer",
          minimum: 1,
          description: "The first line wanted; 1 if absent",
        },
        max_lines: { type: "integer", minimum: 1, description: "How many lines at most" },
      },
      required: ["path"],
      traits: {
        kind: "read",
        sideEffect: "read_only",
        paths: ["path"],
        capabilities: ["workspace.read_text"],
      },
      idempotent: true,
      run: readFile,
    },
    ground,
  );
}

async function readFile({ input, workspace, context, editor }: WorkspaceCall): Promise<ToolOutput> {
  const given = { argument: "path", input: textArgument(input, "path") ?? "" };
  const located = await locateToRead(workspace, given, context);
  const { path, hostPath } = located;
  const { limits, places } = workspace;
  const from = numberArgument(input, "from_line") ?? 1;
  const lines = Math.min(numberArgument(input, "max_lines") ?? limits.readLines, limits.readLines);
  return inItsFolder(workspace, located, async (folder, name) => {
    const window = { from, lines, limits, signal: context.signal };
    const opened = await openFile(folder, name, places);
    const size = Number(opened?.facts.size ?? 0);
    const disk = opened && (await scannedFile(opened, window));
    const isForEditor =
      disk === undefined || (disk.binary === undefined && size <= MOST_EDITOR_TEXT);
    const { text, note } = isForEditor
      ? await editor.read({ path, hostPath, folder, name }, disk !== undefined)
      : NOTHING_ASKED;
    const found = text === undefined ? disk : await scanned(inMemory(Buffer.from(text)), window);
    if (found === undefined) throw refusal("missing", `There is no file ${path}`);
    return output({ path, from, size, scanBytes: limits.scanBytes, note }, found);
  });
}

const NOTHING_ASKED: EditorText = {};

/** Reads from a place on: how many bytes it was. */
type Source = (buffer: Buffer, length: number, from: number) => Promise<number>;

async function scannedFile({ handle }: OpenedFile, options: ScanOptions): Promise<Scanned> {
  try {
    return await scanned(
      async (buffer, length, from) => (await handle.read(buffer, 0, length, from)).bytesRead,
      options,
    );
  } finally {
    await handle.close();
  }
}

function inMemory(bytes: Buffer): Source {
  return async (buffer, length, from) => bytes.copy(buffer, 0, from, from + length);
}

interface ScanOptions {
  readonly from: number;
  readonly lines: number;
  readonly limits: WorkspaceCall["workspace"]["limits"];
  readonly signal: AbortSignal;
}

interface Scanned {
  /** Undefined for text. */
  readonly binary: string | undefined;
  readonly text: WindowText;
  /** Of the whole file; undefined where the end was not reached. */
  readonly sha256: string | undefined;
  readonly bytes: number;
}

async function scanned(read: Source, options: ScanOptions): Promise<Scanned> {
  const { from, lines, limits, signal } = options;
  const { readCharacters: characters, lineCharacters } = limits;
  const window = lineWindow({ from, lines, characters, lineCharacters });
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  let bytes = 0;
  let binary: string | undefined;
  let isWhole = false;
  while (bytes < limits.scanBytes) {
    signal.throwIfAborted();
    const room = Math.min(buffer.length, limits.scanBytes - bytes);
    const bytesRead = await read(buffer, room, bytes);
    isWhole = bytesRead === 0;
    if (isWhole) break;
    const piece = buffer.subarray(0, bytesRead);
    if (bytes === 0) binary = binaryKind(piece.subarray(0, BEGINNING_BYTES));
    hash.update(piece);
    if (binary === undefined) window.add(piece);
    bytes += bytesRead;
  }
  return { binary, text: window.end(), sha256: isWhole ? hash.digest("hex") : undefined, bytes };
}

const PIECE_BYTES = 256 * 1024;

interface Header {
  readonly path: string;
  readonly from: number;
  readonly size: number;
  readonly scanBytes: number;
  readonly note: string | undefined;
}

function output({ path, from, size, scanBytes, note }: Header, found: Scanned): ToolOutput {
  const { binary, text, sha256, bytes } = found;
  const whole = sha256 === undefined ? {} : { sha256 };
  const told = sha256 === undefined ? "" : `, sha256 ${sha256}`;
  const locations = [{ path, line: from }];
  if (binary !== undefined) {
    const length = sha256 === undefined ? Math.max(size, bytes) : bytes;
    const data = { path, binary, bytes: length, ...whole };
    const words = `${path} is ${binary} of ${counted(length, "byte")}${told}. It is not shown.`;
    return toolOutput({ text: words, data, locations });
  }
  const last = from + text.lines.length - 1;
  const total = sha256 === undefined ? `at least ${text.total}` : text.total;
  const range = text.lines.length === 0 ? "no lines" : linesText(from, last);
  const notes = [
    ...(last < text.total && text.lines.length > 0
      ? [
          `${linesText(last + 1, text.total)} ${text.total === last + 1 ? "is" : "are"} not shown; go on with from_line ${last + 1}`,
        ]
      : []),
    ...(sha256 === undefined
      ? [`only the first ${counted(scanBytes, "byte was", "bytes were")} looked at`]
      : []),
    ...(text.isUtf8 ? [] : ["some bytes are not UTF-8 and shown as \ufffd"]),
    ...(note === undefined ? [] : [note]),
    ...(text.hasCarriageReturns ? ["lines end with \\r\\n"] : []),
  ];
  const numbered = text.lines.map((line, at) => `${from + at}\t${line}`);
  const words = [
    `${path}, ${range} of ${total}${told}`,
    ...numbered,
    ...notes.map((note) => `[${note}]`),
  ].join("\n");
  const shownLines = { from, count: text.lines.length, cut: text.cut };
  return toolOutput({ text: words, data: { path, shown: shownLines, total, ...whole }, locations });
}

function linesText(first: number, last: number): string {
  return first === last ? `line ${first}` : `lines ${first} to ${last}`;
}
