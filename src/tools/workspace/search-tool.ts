import { join } from "node:path";
import { pluralize } from "../../text/pluralize.ts";
import { createToolOutput, type ToolOutput } from "../../domain/tools/tool-output.ts";
import type { Tool } from "../tool.ts";
import { readBooleanArgument, readNumberArgument, readStringArgument } from "./tool-arguments.ts";
import type { Folder } from "./files/folder.ts";
import { openFile } from "./files/open-file.ts";
import { readBytes } from "./files/read-whole-file.ts";
import {
  createWalkNotes,
  walkFolder,
  isUsuallySkipped,
  formatWalkNotes,
} from "./files/walk-folder.ts";
import { parseGlob } from "./list-files-tool.ts";
import { toWorkspacePath } from "./paths/examine-paths.ts";
import { isWithin } from "./paths/protected-paths.ts";
import { createRefusal } from "./tool-refusal.ts";
import { createLoopPacer, type LoopPacer } from "./text/loop-pacer.ts";
import { SNIFF_BYTES, detectBinaryKind } from "./text/binary-kind.ts";
import type { Glob } from "./text/glob.ts";
import { readPattern, type LineMatcher } from "./text/line-matcher.ts";
import { findMatches, type FileMatches } from "./text/find-matches.ts";
import {
  openWorkspaceFolder,
  withParentFolder,
  locateReadablePath,
  formatPath,
  type FoundFile,
  type LocatedPath,
  type Workspace,
} from "./workspace.ts";
import {
  createWorkspaceTool,
  type WorkspaceToolContext,
  type WorkspaceToolCall,
} from "./create-workspace-tool.ts";

export function createSearchTool(context: WorkspaceToolContext): Tool {
  return createWorkspaceTool(
    {
      name: "search",
      description:
        "Searches the text files of the workspace, line by line, for a regular expression (RE2: no look-around, no " +
        "back-references) or a literal string. Returns paths relative to the workspace with numbered lines. .gitignore is not read; " +
        ".git and node_modules are not entered unless include_all is set.",
      properties: {
        pattern: { type: "string" },
        literal: { type: "boolean", description: "Treat the pattern as literal text" },
        ignore_case: { type: "boolean" },
        path: { type: "string", description: "A folder or a file; default: the workspace" },
        glob: {
          type: "string",
          description: "Only these files, relative to the folder; *.ts matches names",
        },
        context_lines: { type: "integer", minimum: 0, maximum: 10 },
        max_matches: { type: "integer", minimum: 1 },
        include_all: { type: "boolean", description: "Enter .git and node_modules too" },
      },
      required: ["pattern"],
      traits: {
        kind: "search",
        sideEffect: "read_only",
        paths: ["path"],
        capabilities: ["workspace.search", "workspace.read_text"],
      },
      idempotent: true,
      run: search,
    },
    context,
  );
}

/** The state of a running search. */
interface SearchState {
  readonly workspace: Workspace;
  readonly matcher: LineMatcher;
  readonly glob: Glob | undefined;
  readonly contextLines: number;
  readonly maxMatches: number;
  readonly pacer: LoopPacer;
  readonly found: FileMatches[];
  readonly notes: SearchNotes;
}

interface SearchNotes {
  files: number;
  bytes: number;
  matches: number;
  tooLarge: number;
  binary: number;
  unreadable: number;
  longLines: number;
  /** Files which the policy does not allow to be read. */
  withheld: number;
  /** Why the search ended early. Undefined if it completed. */
  stopped: string | undefined;
}

async function search({
  input,
  workspace,
  context,
  clock,
}: WorkspaceToolCall): Promise<ToolOutput> {
  const { limits } = workspace;
  const parsed = await readPattern(readStringArgument(input, "pattern") ?? "", {
    isLiteral: readBooleanArgument(input, "literal"),
    ignoreCase: readBooleanArgument(input, "ignore_case"),
  });
  if (parsed.problem !== undefined)
    throw createRefusal("invalid", `Nothing was searched: ${parsed.problem}`);
  const pattern = readStringArgument(input, "glob");
  const state: SearchState = {
    workspace,
    matcher: parsed.matcher,
    glob: pattern === undefined ? undefined : await parseGlob(pattern),
    contextLines: readNumberArgument(input, "context_lines") ?? 0,
    maxMatches: Math.min(
      readNumberArgument(input, "max_matches") ?? Infinity,
      limits.searchMatches,
    ),
    pacer: createLoopPacer(clock, context.signal),
    found: [],
    notes: createSearchNotes(),
  };
  const pathArgument = readStringArgument(input, "path");
  const pathInput = { argument: "path", input: pathArgument ?? "." };
  const located = await locateReadablePath(
    workspace,
    pathInput,
    pathArgument === undefined ? undefined : context,
  );
  const walkNotes = await searchPath(located, state, readBooleanArgument(input, "include_all"));
  return formatOutput(state, walkNotes);
}

function createSearchNotes(): SearchNotes {
  return {
    files: 0,
    bytes: 0,
    matches: 0,
    tooLarge: 0,
    binary: 0,
    unreadable: 0,
    longLines: 0,
    withheld: 0,
    stopped: undefined,
  };
}

async function searchPath(
  located: LocatedPath,
  state: SearchState,
  includeAll: boolean,
): Promise<string[]> {
  const { workspace } = state;
  const folder = await openFolderOrSearchFile(located, state);
  if (folder === undefined) return [];
  const notes = createWalkNotes();
  try {
    const { walkEntries: entries, depth } = workspace.limits;
    const isSkipped = includeAll ? () => false : isUsuallySkipped;
    const walk = { depth, entries, isSkipped, yieldToLoop: state.pacer.yieldToLoop };
    for await (const { type, path, folder: inner, name } of walkFolder(folder, walk, notes)) {
      if (type !== "file" || state.glob?.(path) === false) continue;
      if (!workspace.mayRead(toFoundFile(inner, name, workspace))) {
        state.notes.withheld += 1;
        continue;
      }
      await searchFile(inner, name, state);
      if (state.notes.stopped !== undefined) break;
    }
  } finally {
    await folder.close();
  }
  const { tooDeep } = notes;
  return [
    ...formatWalkNotes(notes),
    ...(tooDeep > 0 ? [`${pluralize(tooDeep, "folder is", "folders are")} too deep`] : []),
  ];
}

/** Opens a folder. If the path is a file, searches the file and returns undefined. */
async function openFolderOrSearchFile(
  located: LocatedPath,
  state: SearchState,
): Promise<Folder | undefined> {
  const { workspace } = state;
  if (located.names.length === 0) return openWorkspaceFolder(workspace, [], located);
  return withParentFolder(workspace, located, async (outer, name) => {
    const opened = await openFile(outer, name, workspace.places).catch(() => undefined);
    await opened?.handle.close();
    if (opened === undefined) return openWorkspaceFolder(workspace, located.names, located);
    await searchFile(outer, name, state);
    return undefined;
  });
}

async function searchFile(folder: Folder, name: string, state: SearchState): Promise<void> {
  const { notes, workspace, pacer } = state;
  const { limits } = workspace;
  if (notes.files >= limits.searchFiles) notes.stopped = `after ${pluralize(notes.files, "file")}`;
  if (notes.bytes >= limits.searchBytes) notes.stopped = `after ${pluralize(notes.bytes, "byte")}`;
  if (pacer.elapsed >= limits.searchMs)
    notes.stopped = `after ${pluralize(limits.searchMs / 1000, "second")}`;
  if (notes.stopped !== undefined) return;
  const bytes = await readTextContent(folder, name, state);
  if (bytes === undefined) return;
  notes.files += 1;
  notes.bytes += bytes.length;
  const text = bytes.toString();
  if (!state.matcher.mayMatchText(text)) return;
  const path = joinFolderPath(folder, name);
  const { matcher, contextLines, maxMatches } = state;
  const options = { matcher, contextLines, maxMatches: maxMatches - notes.matches };
  const isTimeUp = (): boolean => pacer.elapsed >= limits.searchMs;
  const matches = await findMatches(text, options, { yieldToLoop: pacer.yieldToLoop, isTimeUp });
  notes.longLines += matches.longLines;
  notes.matches += matches.lines.length;
  if (matches.lines.length > 0) state.found.push({ path, ...matches });
  if (matches.isTruncated) notes.stopped = `after ${pluralize(limits.searchMs / 1000, "second")}`;
  if (notes.matches >= maxMatches)
    notes.stopped = `after ${pluralize(maxMatches, "match", "matches")}`;
}

async function readTextContent(
  folder: Folder,
  name: string,
  state: SearchState,
): Promise<Buffer | undefined> {
  const { notes, workspace } = state;
  try {
    const opened = await openFile(folder, name, workspace.places);
    if (opened === undefined) return undefined;
    try {
      const bytes = await readBytes(opened, workspace.limits.searchFileBytes);
      if (bytes === undefined) notes.tooLarge += 1;
      else if (detectBinaryKind(bytes.subarray(0, SNIFF_BYTES)) !== undefined) notes.binary += 1;
      else return bytes;
    } finally {
      await opened.handle.close();
    }
  } catch {
    notes.unreadable += 1;
  }
  return undefined;
}

/** A walk which starts outside the workspace may also enter the workspace. */
function toFoundFile(folder: Folder, name: string, { root, folders }: Workspace): FoundFile {
  const hostPath = join(folder.hostPath, name);
  const base = [root, ...folders].find((folderRoot) => isWithin(hostPath, folderRoot));
  return { workspacePath: base === undefined ? null : toWorkspacePath(hostPath, base), hostPath };
}

function joinFolderPath(folder: Folder, name: string): string {
  return folder.path === "." ? name : `${folder.path}/${name}`;
}

function formatOutput(
  { found, notes, workspace }: SearchState,
  walkNotes: readonly string[],
): ToolOutput {
  const { lineCharacters, readCharacters } = workspace.limits;
  const blocks = found.map(({ path, displayLines: lines }) => [
    formatPath(path),
    ...lines.map((line) =>
      line.length > lineCharacters ? `${line.slice(0, lineCharacters)}…` : line,
    ),
  ]);
  const sections = [
    ...(notes.stopped === undefined
      ? []
      : [`the search ended ${notes.stopped}; there may be more`]),
    ...(notes.tooLarge > 0
      ? [`${pluralize(notes.tooLarge, "file is", "files are")} too large to search`]
      : []),
    ...(notes.binary > 0 ? [`${pluralize(notes.binary, "file is", "files are")} not text`] : []),
    ...(notes.unreadable > 0 ? [`${pluralize(notes.unreadable, "file")} could not be read`] : []),
    ...(notes.withheld > 0 ? [`${pluralize(notes.withheld, "file")} may not be read here`] : []),
    ...(notes.longLines > 0
      ? [`only the beginning of ${pluralize(notes.longLines, "long line")} was searched`]
      : []),
    ...walkNotes,
  ];
  const first = `${pluralize(notes.matches, "matching line")} in ${found.length} of ${pluralize(notes.files, "file")}`;
  const body = blocks.map((lines) => lines.join("\n")).join("\n\n");
  const cut =
    body.length > readCharacters ? [`the text was cut at ${readCharacters} characters`] : [];
  const text = [
    first,
    body.slice(0, readCharacters),
    ...[...cut, ...sections].map((note) => `[${note}]`),
  ]
    .filter((part) => part !== "")
    .join("\n");
  return createToolOutput({
    text,
    data: { matches: notes.matches, files: notes.files, stopped: notes.stopped ?? null },
    locations: found.flatMap(({ path, lines }) => lines.map((line) => ({ path, line }))),
  });
}
