import { createHash } from "node:crypto";
import { pluralize } from "../../text/pluralize.ts";
import { createToolOutput, type ToolOutput } from "../../domain/tools/tool-output.ts";
import type { Tool } from "../tool.ts";
import { readNumberArgument, readStringArgument } from "./tool-arguments.ts";
import { MAX_EDITOR_TEXT, type EditorText } from "./editor/editor-files.ts";
import { openFile, type OpenedFile } from "./files/open-file.ts";
import { createRefusal } from "./tool-refusal.ts";
import { SNIFF_BYTES, detectBinaryKind } from "./text/binary-kind.ts";
import { createLineWindow, type WindowText } from "./text/line-window.ts";
import { withParentFolder, locateReadablePath } from "./workspace.ts";
import {
  createWorkspaceTool,
  type WorkspaceToolContext,
  type WorkspaceToolCall,
} from "./create-workspace-tool.ts";

export function createReadFileTool(context: WorkspaceToolContext): Tool {
  return createWorkspaceTool(
    {
      name: "read_file",
      description:
        "Reads a text file of the workspace. Returns the lines with their numbers (which are not part of the text) and the " +
        "sha256 that write_file can check. Long files come in parts: continue with from_line.",
      properties: {
        path: { type: "string", description: "Relative to the workspace, with / as separator" },
        from_line: {
          type: "integer",
          minimum: 1,
          description: "The first line to return; default: 1",
        },
        max_lines: { type: "integer", minimum: 1, description: "Maximum number of lines" },
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
    context,
  );
}

async function readFile({
  input,
  workspace,
  context,
  editor,
}: WorkspaceToolCall): Promise<ToolOutput> {
  const pathInput = { argument: "path", input: readStringArgument(input, "path") ?? "" };
  const located = await locateReadablePath(workspace, pathInput, context);
  const { path, hostPath } = located;
  const { limits, places } = workspace;
  const from = readNumberArgument(input, "from_line") ?? 1;
  const lines = Math.min(
    readNumberArgument(input, "max_lines") ?? limits.readLines,
    limits.readLines,
  );
  return withParentFolder(workspace, located, async (folder, name) => {
    const window = { from, lines, limits, signal: context.signal };
    const opened = await openFile(folder, name, places);
    const size = Number(opened?.facts.size ?? 0);
    const disk = opened && (await scanFile(opened, window));
    const isForEditor =
      disk === undefined || (disk.binary === undefined && size <= MAX_EDITOR_TEXT);
    const { text, note } = isForEditor
      ? await editor.read({ path, hostPath, folder, name }, disk !== undefined)
      : EMPTY_EDITOR_TEXT;
    const scan =
      text === undefined ? disk : await scanContent(createMemoryReader(Buffer.from(text)), window);
    if (scan === undefined) throw createRefusal("missing", `File not found: ${path}`);
    return formatOutput({ path, from, size, scanBytes: limits.scanBytes, note }, scan);
  });
}

const EMPTY_EDITOR_TEXT: EditorText = {};

/** Reads into `buffer` from the offset `from`. Returns the number of bytes read. */
type ByteReader = (buffer: Buffer, length: number, from: number) => Promise<number>;

async function scanFile({ handle }: OpenedFile, options: ScanOptions): Promise<ScanResult> {
  try {
    return await scanContent(
      async (buffer, length, from) => (await handle.read(buffer, 0, length, from)).bytesRead,
      options,
    );
  } finally {
    await handle.close();
  }
}

function createMemoryReader(bytes: Buffer): ByteReader {
  return async (buffer, length, from) => bytes.copy(buffer, 0, from, from + length);
}

interface ScanOptions {
  readonly from: number;
  readonly lines: number;
  readonly limits: WorkspaceToolCall["workspace"]["limits"];
  readonly signal: AbortSignal;
}

interface ScanResult {
  /** Description of binary content. Undefined for text. */
  readonly binary: string | undefined;
  readonly text: WindowText;
  /** Digest of the whole file. Undefined if the end was not reached. */
  readonly sha256: string | undefined;
  readonly bytes: number;
}

async function scanContent(read: ByteReader, options: ScanOptions): Promise<ScanResult> {
  const { from, lines, limits, signal } = options;
  const { readCharacters: characters, lineCharacters } = limits;
  const window = createLineWindow({ from, lines, characters, lineCharacters });
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  let bytes = 0;
  let binary: string | undefined;
  let isComplete = false;
  while (bytes < limits.scanBytes) {
    signal.throwIfAborted();
    const available = Math.min(buffer.length, limits.scanBytes - bytes);
    const bytesRead = await read(buffer, available, bytes);
    isComplete = bytesRead === 0;
    if (isComplete) break;
    const piece = buffer.subarray(0, bytesRead);
    if (bytes === 0) binary = detectBinaryKind(piece.subarray(0, SNIFF_BYTES));
    hash.update(piece);
    if (binary === undefined) window.add(piece);
    bytes += bytesRead;
  }
  return { binary, text: window.end(), sha256: isComplete ? hash.digest("hex") : undefined, bytes };
}

const PIECE_BYTES = 256 * 1024;

interface Header {
  readonly path: string;
  readonly from: number;
  readonly size: number;
  readonly scanBytes: number;
  readonly note: string | undefined;
}

function formatOutput({ path, from, size, scanBytes, note }: Header, scan: ScanResult): ToolOutput {
  const { binary, text, sha256, bytes } = scan;
  const digestField = sha256 === undefined ? {} : { sha256 };
  const digestText = sha256 === undefined ? "" : `, sha256 ${sha256}`;
  const locations = [{ path, line: from }];
  if (binary !== undefined) {
    const length = sha256 === undefined ? Math.max(size, bytes) : bytes;
    const data = { path, binary, bytes: length, ...digestField };
    const outputText = `${path} is ${binary} of ${pluralize(length, "byte")}${digestText}. Its content is not shown.`;
    return createToolOutput({ text: outputText, data, locations });
  }
  const last = from + text.lines.length - 1;
  const total = sha256 === undefined ? `at least ${text.total}` : text.total;
  const range = text.lines.length === 0 ? "no lines" : formatLineRange(from, last);
  const notes = [
    ...(last < text.total && text.lines.length > 0
      ? [
          `${formatLineRange(last + 1, text.total)} ${text.total === last + 1 ? "is" : "are"} not shown; continue with from_line ${last + 1}`,
        ]
      : []),
    ...(sha256 === undefined
      ? [`only the first ${pluralize(scanBytes, "byte was", "bytes were")} read`]
      : []),
    ...(text.isUtf8 ? [] : ["some bytes are not UTF-8 and shown as \ufffd"]),
    ...(note === undefined ? [] : [note]),
    ...(text.hasCarriageReturns ? ["lines end with \\r\\n"] : []),
  ];
  const numbered = text.lines.map((line, at) => `${from + at}\t${line}`);
  const outputText = [
    `${path}, ${range} of ${total}${digestText}`,
    ...numbered,
    ...notes.map((note) => `[${note}]`),
  ].join("\n");
  const shownLines = { from, count: text.lines.length, cut: text.cut };
  return createToolOutput({
    text: outputText,
    data: { path, shown: shownLines, total, ...digestField },
    locations,
  });
}

function formatLineRange(first: number, last: number): string {
  return first === last ? `line ${first}` : `lines ${first} to ${last}`;
}
