import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { SpanlineError, formatThrown } from "../domain/errors.ts";
import {
  toHarnessChanges,
  readHarnessDraft,
  readHarnessTools,
  toHarnessSpec,
  type HarnessDraft,
} from "../wire/agentcore/control/harness-draft.ts";
import type { HarnessChanges, HarnessSpec } from "../wire/agentcore/control/harness-settings.ts";

/** The sources of a spec: a spec file, a file of tools, and overrides, which take precedence over both. */
export interface SpecSources {
  /** Relative files start here. Default: the working directory. */
  readonly folder?: string;
  readonly specFile?: string | undefined;
  readonly toolsFile?: string | undefined;
  readonly overrides?: Partial<
    Pick<HarnessSpec, "name" | "roleArn" | "model" | "systemPrompt" | LimitName>
  >;
}

type LimitName = "maxIterations" | "maxTokens" | "timeoutSeconds";

/** Reads a complete spec from YAML or JSON. */
export async function readSpec(sources: SpecSources): Promise<HarnessSpec> {
  return toHarnessSpec(await readSources(sources));
}

/** Reads the changes to a harness, in the same format. */
export async function readChanges(sources: SpecSources): Promise<HarnessChanges> {
  return toHarnessChanges(await readSources(sources));
}

async function readSources(sources: SpecSources): Promise<HarnessDraft> {
  const { folder = ".", specFile, toolsFile, overrides } = sources;
  const draft =
    specFile === undefined
      ? {}
      : await readDocumentAs({ folder, path: specFile }, readHarnessDraft);
  if (toolsFile === undefined) return { ...draft, ...overrides };
  const tools = await readDocumentAs({ folder, path: toolsFile }, (value) =>
    readHarnessTools(value, "tools"),
  );
  return { ...draft, tools, ...overrides };
}

/** Prefixes errors with the file name. */
async function readDocumentAs<Value>(
  { folder, path }: { readonly folder: string; readonly path: string },
  read: (value: unknown) => Value,
): Promise<Value> {
  const document = await readDocument(folder, path);
  try {
    return read(document);
  } catch (cause) {
    if (!(cause instanceof SpanlineError)) throw cause;
    const { code, message, details } = cause;
    throw new SpanlineError(code, `${path}: ${message}`, { details, cause });
  }
}

/** JSON is a subset of YAML. */
async function readDocument(folder: string, path: string): Promise<unknown> {
  const text = await readFile(resolve(folder, path), "utf8").catch((cause: unknown) => {
    throw createReadError(path, formatReason(cause), cause);
  });
  const { parse } = await import("yaml");
  let document: unknown;
  try {
    document = parse(text);
    // Detects a YAML alias which contains itself.
    JSON.stringify(document);
  } catch (cause) {
    throw createReadError(path, `it is neither YAML nor JSON: ${formatReason(cause)}`, cause);
  }
  return document;
}

function createReadError(path: string, reason: string, cause: unknown): SpanlineError {
  return new SpanlineError("unreadable_input", `Cannot read ${path}: ${reason}`, { cause });
}

function formatReason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "file not found";
  if (code === "EISDIR") return "it is a folder";
  return formatThrown(error).trimEnd();
}
