import { SpanlineError } from "../../domain/errors.ts";
import {
  AbortError,
  toError,
  NotFoundError,
  createProviderError,
} from "../../domain/provider/provider-error.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import type { Terminal } from "../../platform/terminal/terminal.ts";
import type { ControlClient, Harness } from "../../provisioning/control-client.ts";
import type { HarnessCache } from "../../provisioning/harness-cache.ts";
import { withPoll, type Poll } from "../../provisioning/poll.ts";
import { createControlClientFromFlags, type ControlPlaneFlags } from "./control-plane-client.ts";
import { openHarnessCache, type StoreFlags } from "./open-harness-cache.ts";
import { suggestNames } from "../../text/suggest-name.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { formatUnknownName, suggestFix } from "../../text/unknown-name.ts";

export interface FoundHarness {
  readonly arn: string;
  /** The endpoint of a tag. Undefined without a tag. */
  readonly endpoint?: string;
}

export interface HarnessLookup {
  readonly io: CommandIo;
  readonly flags: ControlPlaneFlags & StoreFlags;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Looks up a harness on the control plane by name, id or NAME:TAG. */
export async function findNamedHarness(
  reference: string,
  lookup: HarnessLookup,
): Promise<FoundHarness> {
  const { io, flags, terminal, signal, timeout } = lookup;
  const client = await createControlClientFromFlags(flags, io);
  const warn = (message: string): void => terminal.note(`${toSingleLine(message)}\n`);
  try {
    return await withPoll({ client, signal, timeout }, (waiting) =>
      findByReference(reference, waiting, () => openHarnessCache(client, { ...flags, io }, warn)),
    );
  } catch (error) {
    throw explainError(error, reference);
  }
}

async function findByReference(
  reference: string,
  { client, budget }: Poll,
  cache: () => Promise<HarnessCache>,
): Promise<FoundHarness> {
  if (reference.includes(":")) return (await cache()).resolveTag(reference);
  if (HARNESS_ID.test(reference)) {
    try {
      return { arn: (await client.getHarness(reference, budget)).arn };
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
  const { items, isComplete } = await client.listHarnesses(budget);
  const named = items.filter(({ name }) => name === reference);
  // If two harnesses share a name, the one being deleted is the older and is ignored.
  const [active, ...otherActive] = named.filter(
    ({ status }) => status?.startsWith("DELET") !== true,
  );
  if (otherActive.length > 0) throw createAmbiguousError(reference, named);
  const harness = active ?? named[0];
  if (harness !== undefined) return { arn: harness.arn };
  throw createUnknownError(reference, items, { client, isComplete });
}

/** An id contains "-", a name does not. */
const HARNESS_ID = /^\w+-[a-zA-Z0-9]{10}$/;

function createAmbiguousError(reference: string, named: readonly Harness[]): SpanlineError {
  const arns = named.map(({ arn }) => arn).join(", ");
  const message = `Several harnesses are named ${reference}: ${arns}. Fix: use an ARN`;
  return new SpanlineError("invalid_option", message, { details: { path: "harness" } });
}

function createUnknownError(
  reference: string,
  harnesses: readonly Harness[],
  { client, isComplete }: { readonly client: ControlClient; readonly isComplete: boolean },
): SpanlineError {
  const names = harnesses.map(({ name }) => name);
  // An id ends with ten random characters, so only the name part is compared.
  const baseName = reference.replace(/-\w*$/, "");
  const similarNames = suggestNames(baseName, names);
  const doubt = isComplete ? "" : " (the service returned an incomplete list)";
  const where = `at ${client.origin}${doubt}`;
  const fix = suggestFix(baseName, names);
  const message = formatUnknownName("Harness", reference, { names, where, fix });
  const details = { reference, near: similarNames };
  return createProviderError("not_found", message, { phase: "http", details });
}

/**
 * The agent has received no request yet. A caller allowed to invoke the harness may lack the permission for a lookup,
 * or have only a bearer token.
 */
function explainError(error: unknown, reference: string): unknown {
  if (error instanceof AbortError) return new AbortError(error.cause, false);
  if (!(error instanceof SpanlineError) || !ACCESS_ERROR_CODES.has(error.code)) return error;
  const { code, message, details } = error;
  const hint = `Cannot look up the harness ${reference}: ${message}. Fix: use its ARN, which needs no lookup`;
  return toError({ code, message: hint, details });
}

const ACCESS_ERROR_CODES: ReadonlySet<string> = new Set([
  "access_denied",
  "unauthorized",
  "no_credentials",
]);
