import { join } from "node:path";
import { counted } from "../../domain/counted.ts";
import { toolOutput, type ToolOutput } from "../../domain/tool-output.ts";
import type { Tool } from "../tool.ts";
import { flagArgument, numberArgument, textArgument } from "./arguments.ts";
import type { Folder } from "./files/folder.ts";
import { openFile } from "./files/open-file.ts";
import { readBytes } from "./files/read-whole.ts";
import { noNotes, walkFolder } from "./files/walk-folder.ts";
import { globOf } from "./list-files.ts";
import { isUsuallySkipped, walkedNotes } from "./looked-through.ts";
import { workspacePathOf } from "./paths/examine-paths.ts";
import { isWithin } from "./paths/protected-places.ts";
import { refusal } from "./refusal.ts";
import { breather, type Breather } from "./text/breather.ts";
import { BEGINNING_BYTES, binaryKind } from "./text/content-kind.ts";
import type { Glob } from "./text/glob.ts";
import { readPattern, type LineMatcher } from "./text/line-matcher.ts";
import { matchesIn, type FileMatches } from "./text/matches-in.ts";
import {
  folderAt,
  inItsFolder,
  locateToRead,
  shown,
  type FoundFile,
  type Located,
  type Workspace,
} from "./workspace.ts";
import { workspaceTool, type ToolGround, type WorkspaceCall } from "./workspace-tool.ts";

export function searchTool(ground: ToolGround): Tool {
  return workspaceTool(
    {
      name: "search",
      description:
        "Searches the text files of the workspace, line by line, for a regular expression (RE2: no look-around, no " +
        "back-references) or a literal text. Gives paths from the workspace with numbered lines. .gitignore is not read; " +
        ".git and node_modules are not entered unless include_all is set.",
      properties: {
        pattern: { type: "string" },
        literal: { type: "boolean", description: "The pattern is the text itself" },
        ignore_case: { type: "boolean" },
        path: { type: "string", description: "A folder or a file; the whole workspace if absent" },
        glob: {
          type: "string",
          description: "Only these files, from that folder; *.ts means names",
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
    ground,
  );
}

/** One search under way. */
interface Search {
  readonly workspace: Workspace;
  readonly matcher: LineMatcher;
  readonly glob: Glob | undefined;
  readonly contextLines: number;
  readonly most: number;
  readonly breath: Breather;
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
  /** That the rules do not let be read. */
  withheld: number;
  /** Why it ended before its end. */
  stopped: string | undefined;
}

async function search({ input, workspace, context, clock }: WorkspaceCall): Promise<ToolOutput> {
  const { limits } = workspace;
  const read = await readPattern(textArgument(input, "pattern") ?? "", {
    isLiteral: flagArgument(input, "literal"),
    ignoreCase: flagArgument(input, "ignore_case"),
  });
  if (read.problem !== undefined) throw refusal("invalid", `Nothing was searched: ${read.problem}`);
  const pattern = textArgument(input, "glob");
  const one: Search = {
    workspace,
    matcher: read.matcher,
    glob: pattern === undefined ? undefined : await globOf(pattern),
    contextLines: numberArgument(input, "context_lines") ?? 0,
    most: Math.min(numberArgument(input, "max_matches") ?? Infinity, limits.searchMatches),
    breath: breather(clock, context.signal),
    found: [],
    notes: noSearchNotes(),
  };
  const given = textArgument(input, "path");
  const place = { argument: "path", input: given ?? "." };
  const located = await locateToRead(workspace, place, given === undefined ? undefined : context);
  const walked = await searchAt(located, one, flagArgument(input, "include_all"));
  return output(one, walked);
}

function noSearchNotes(): SearchNotes {
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

async function searchAt(located: Located, one: Search, includeAll: boolean): Promise<string[]> {
  const { workspace } = one;
  const folder = await folderOrFile(located, one);
  if (folder === undefined) return [];
  const notes = noNotes();
  try {
    const { walkEntries: entries, depth } = workspace.limits;
    const isSkipped = includeAll ? () => false : isUsuallySkipped;
    const walk = { depth, entries, isSkipped, rest: one.breath.rest };
    for await (const { type, path, folder: inner, name } of walkFolder(folder, walk, notes)) {
      if (type !== "file" || one.glob?.(path) === false) continue;
      if (!workspace.mayRead(fileIn(inner, name, workspace))) {
        one.notes.withheld += 1;
        continue;
      }
      await searchFile(inner, name, one);
      if (one.notes.stopped !== undefined) break;
    }
  } finally {
    await folder.close();
  }
  const { tooDeep } = notes;
  return [
    ...walkedNotes(notes),
    ...(tooDeep > 0 ? [`${counted(tooDeep, "folder is", "folders are")} too deep`] : []),
  ];
}

/** Undefined where it is a file, which is searched then. */
async function folderOrFile(located: Located, one: Search): Promise<Folder | undefined> {
  const { workspace } = one;
  if (located.names.length === 0) return folderAt(workspace, [], located);
  return inItsFolder(workspace, located, async (outer, name) => {
    const opened = await openFile(outer, name, workspace.places).catch(() => undefined);
    await opened?.handle.close();
    if (opened === undefined) return folderAt(workspace, located.names, located);
    await searchFile(outer, name, one);
    return undefined;
  });
}

async function searchFile(folder: Folder, name: string, one: Search): Promise<void> {
  const { notes, workspace, breath } = one;
  const { limits } = workspace;
  if (notes.files >= limits.searchFiles) notes.stopped = `after ${counted(notes.files, "file")}`;
  if (notes.bytes >= limits.searchBytes) notes.stopped = `after ${counted(notes.bytes, "byte")}`;
  if (breath.elapsed >= limits.searchMs)
    notes.stopped = `after ${counted(limits.searchMs / 1000, "second")}`;
  if (notes.stopped !== undefined) return;
  const bytes = await contentOf(folder, name, one);
  if (bytes === undefined) return;
  notes.files += 1;
  notes.bytes += bytes.length;
  const text = bytes.toString();
  if (!one.matcher.mayBeIn(text)) return;
  const path = pathIn(folder, name);
  const { matcher, contextLines, most } = one;
  const options = { matcher, contextLines, most: most - notes.matches };
  const until = (): boolean => breath.elapsed >= limits.searchMs;
  const found = await matchesIn(text, options, { rest: breath.rest, until });
  notes.longLines += found.longLines;
  notes.matches += found.lines.length;
  if (found.lines.length > 0) one.found.push({ path, ...found });
  if (found.isCut) notes.stopped = `after ${counted(limits.searchMs / 1000, "second")}`;
  if (notes.matches >= most) notes.stopped = `after ${counted(most, "match", "matches")}`;
}

async function contentOf(folder: Folder, name: string, one: Search): Promise<Buffer | undefined> {
  const { notes, workspace } = one;
  try {
    const opened = await openFile(folder, name, workspace.places);
    if (opened === undefined) return undefined;
    try {
      const bytes = await readBytes(opened, workspace.limits.searchFileBytes);
      if (bytes === undefined) notes.tooLarge += 1;
      else if (binaryKind(bytes.subarray(0, BEGINNING_BYTES)) !== undefined) notes.binary += 1;
      else return bytes;
    } finally {
      await opened.handle.close();
    }
  } catch {
    notes.unreadable += 1;
  }
  return undefined;
}

/** A walk that began outside comes past the workspace too. */
function fileIn(folder: Folder, name: string, { root, folders }: Workspace): FoundFile {
  const hostPath = join(folder.hostPath, name);
  const base = [root, ...folders].find((one) => isWithin(hostPath, one));
  return { workspacePath: base === undefined ? null : workspacePathOf(hostPath, base), hostPath };
}

function pathIn(folder: Folder, name: string): string {
  return folder.path === "." ? name : `${folder.path}/${name}`;
}

function output({ found, notes, workspace }: Search, walked: readonly string[]): ToolOutput {
  const { lineCharacters, readCharacters } = workspace.limits;
  const blocks = found.map(({ path, shown: lines }) => [
    shown(path),
    ...lines.map((line) =>
      line.length > lineCharacters ? `${line.slice(0, lineCharacters)}…` : line,
    ),
  ]);
  const told = [
    ...(notes.stopped === undefined
      ? []
      : [`the search ended ${notes.stopped}; there may be more`]),
    ...(notes.tooLarge > 0
      ? [`${counted(notes.tooLarge, "file is", "files are")} too large to be searched`]
      : []),
    ...(notes.binary > 0 ? [`${counted(notes.binary, "file is", "files are")} no text`] : []),
    ...(notes.unreadable > 0 ? [`${counted(notes.unreadable, "file")} could not be read`] : []),
    ...(notes.withheld > 0 ? [`${counted(notes.withheld, "file")} may not be read here`] : []),
    ...(notes.longLines > 0
      ? [`of ${counted(notes.longLines, "long line")} only the beginning was searched`]
      : []),
    ...walked,
  ];
  const first = `${counted(notes.matches, "matching line")} in ${found.length} of ${counted(notes.files, "file")}`;
  const body = blocks.map((lines) => lines.join("\n")).join("\n\n");
  const cut =
    body.length > readCharacters ? [`the text was cut at ${readCharacters} characters`] : [];
  const text = [
    first,
    body.slice(0, readCharacters),
    ...[...cut, ...told].map((note) => `[${note}]`),
  ]
    .filter((part) => part !== "")
    .join("\n");
  return toolOutput({
    text,
    data: { matches: notes.matches, files: notes.files, stopped: notes.stopped ?? null },
    locations: found.flatMap(({ path, lines }) => lines.map((line) => ({ path, line }))),
  });
}
