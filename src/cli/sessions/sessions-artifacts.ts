import { lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { readStoredLog, type StoredSessions } from "../../bridge/stored-sessions.ts";
import {
  createJsonFile,
  readArtifactFile,
  type ArtifactFile,
} from "../../domain/outputs/artifact.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { ArtifactEvent } from "../../domain/events/artifact-events.ts";
import { formatPrettyJson } from "../../inspect/pretty-json.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { digestBytes } from "../../platform/digest.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";
import { pluralize } from "../../text/pluralize.ts";
import { findSession, withSessionsContext, type SessionsFlags } from "./sessions-context.ts";

export interface ArtifactsFlags extends SessionsFlags {
  /** The folder for the files. Absent: the artifacts are listed only. */
  readonly output?: string;
  readonly json?: true;
}

/** Lists the artifacts and handoffs of a session, or saves them as files. `artifact`: id of a single artifact. */
export async function runSessionsArtifacts(
  reference: string,
  artifact: string | undefined,
  flags: ArtifactsFlags,
  io: CommandIo,
): Promise<number> {
  return withSessionsContext(flags, io, async (run) => {
    const { sessions, terminal } = run;
    const { sessionId } = await findSession(reference, run);
    const entries = await readEntries(sessions, sessionId);
    const selected = entries.filter(
      ({ event }) => artifact === undefined || event.artifactId === artifact,
    );
    if (artifact !== undefined && selected.length === 0) {
      const message = formatUnknownName("Artifact", artifact, {
        names: entries.map(({ event }) => event.artifactId),
        isListed: false,
        where: `in ${sessionId}`,
        fix: `list the artifacts with \`spanline sessions artifacts ${sessionId}\``,
      });
      throw new SpanlineError("not_found", message, { details: { sessionId } });
    }
    if (flags.output === undefined) {
      const list = selected.map(describeEntry);
      const text =
        flags.json === true
          ? `${formatPrettyJson({ artifacts: list })}\n`
          : list.map((entry) => `${formatEntry(entry)}\n`).join("");
      await terminal.write(text === "" ? "The session has no artifacts\n" : text);
      return 0;
    }
    const folder = resolve(io.cwd, flags.output);
    const saved = await saveArtifacts(selected, { sessions, sessionId, folder });
    const existing = saved.existing === 0 ? "" : `, ${saved.existing} of them already there`;
    const count = pluralize(selected.length - saved.problems.length, "artifact");
    terminal.note(`${count} of ${sessionId} in ${flags.output}${existing}\n`);
    const [problem] = saved.problems;
    if (problem !== undefined) throw problem;
    return 0;
  });
}

interface SavedArtifacts {
  /** Number of files which the folder had with the same content. */
  readonly existing: number;
  /** Why files were not saved. */
  readonly problems: readonly unknown[];
}

/** Saves as many artifacts as possible. */
async function saveArtifacts(
  entries: readonly ArtifactEntry[],
  place: {
    readonly sessions: StoredSessions;
    readonly sessionId: string;
    readonly folder: string;
  },
): Promise<SavedArtifacts> {
  const { sessions, sessionId, folder } = place;
  // Readable by the owner only, because an artifact may contain private data.
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const problems: unknown[] = [];
  let existing = 0;
  for (const { event } of entries) {
    try {
      const file = await readContent(sessions, sessionId, event);
      const outcome = await saveFile(join(folder, toFileName(file.name)), file.text);
      if (outcome === "exists") existing += 1;
    } catch (error) {
      problems.push(error);
    }
  }
  return { existing, problems };
}

interface ArtifactEntry {
  readonly seq: number;
  readonly event: ArtifactEvent;
}

async function readEntries(
  sessions: StoredSessions,
  sessionId: string,
): Promise<readonly ArtifactEntry[]> {
  const entries: ArtifactEntry[] = [];
  for await (const { examined } of readStoredLog(sessions, sessionId)) {
    if (examined.status !== "readable") continue;
    const { seq, event } = examined.envelope;
    if (event.type === "artifact.emitted" || event.type === "handoff.emitted")
      entries.push({ seq, event });
  }
  return entries;
}

interface ListedArtifact {
  readonly artifactId: string;
  readonly kind: string;
  readonly title: string;
  readonly sizeBytes: number | null;
  readonly seq: number;
}

function describeEntry({ seq, event }: ArtifactEntry): ListedArtifact {
  const { artifactId } = event;
  if (event.type === "handoff.emitted")
    return { artifactId, kind: "handoff", title: event.handoff.task, sizeBytes: null, seq };
  const { kind, title, fallback, sizeBytes } = event;
  return { artifactId, kind, title: title ?? fallback.slice(0, 80), sizeBytes, seq };
}

function formatEntry({ artifactId, kind, title, sizeBytes }: ListedArtifact): string {
  const size = sizeBytes === null ? "" : `  ${pluralize(sizeBytes, "byte")}`;
  return `${toSingleLine(artifactId)}  ${toSingleLine(kind)}  ${toSingleLine(title)}${size}`;
}

async function readContent(
  sessions: StoredSessions,
  sessionId: string,
  event: ArtifactEvent,
): Promise<ArtifactFile> {
  const { artifactId } = event;
  if (event.type === "handoff.emitted") return createJsonFile(artifactId, event.handoff);
  const bytes = await sessions.readBlob(sessionId, artifactId);
  const isIntact = bytes !== undefined && digestBytes(bytes) === event.sha256;
  const file = isIntact ? readArtifactFile(bytes, artifactId) : undefined;
  if (file !== undefined) return file;
  const message = `The content of artifact ${artifactId} is missing or was changed`;
  throw new SpanlineError("store_damaged", message, { details: { sessionId, artifactId } });
}

/** Never replaces a file. A file with the same content counts as saved. */
async function saveFile(path: string, text: string): Promise<"saved" | "exists"> {
  try {
    await writeFile(path, text, { mode: 0o600, flag: "wx" });
    return "saved";
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code !== "EEXIST") {
      const message = `Cannot write ${path}: ${String(code ?? cause)}`;
      throw new SpanlineError("invalid_option", message, { cause });
    }
    if (await hasContent(path, text)) return "exists";
    const message = `Cannot write ${path}: the file exists with other content. Fix: move the file, or choose another folder with --output`;
    throw new SpanlineError("invalid_option", message, { cause });
  }
}

async function hasContent(path: string, text: string): Promise<boolean> {
  const stats = await lstat(path);
  if (!stats.isFile() || stats.size !== Buffer.byteLength(text)) return false;
  return (await readFile(path, "utf8")) === text;
}

/** A log may have been changed, so an id is not trusted as the name of a file. */
function toFileName(name: string): string {
  return name.replaceAll(/[^\w.-]/g, "_").replace(/^\.+/, "_");
}
