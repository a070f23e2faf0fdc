import { SpanlineError } from "../domain/errors.ts";
import { AbortError, errorOf, NotFoundError, providerError } from "../domain/provider-error.ts";
import { oneLine } from "../inspect/style.ts";
import type { Terminal } from "../platform/terminal.ts";
import type { ControlClient, Harness } from "../provisioning/control-client.ts";
import type { HarnessCache } from "../provisioning/harness-cache.ts";
import { within, type Waiting } from "../provisioning/waiting.ts";
import { controlPlaneFrom, type PlaceFlags } from "./control-plane.ts";
import { openCache, type StoreFlags } from "./harness-store.ts";
import { nearNames } from "../domain/near-names.ts";

export interface FoundHarness {
  readonly arn: string;
  /** Where a tag stands for one. */
  readonly endpoint?: string;
}

export interface LookUp {
  readonly flags: PlaceFlags & StoreFlags;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** In milliseconds. */
  readonly timeout: number;
}

/** Asks the control plane for the harness that somebody calls by its name, its id or NAME:TAG. */
export async function namedHarness(reference: string, lookUp: LookUp): Promise<FoundHarness> {
  const { flags, terminal, signal, timeout } = lookUp;
  const client = await controlPlaneFrom(flags);
  const warn = (message: string): void => terminal.note(`${oneLine(message)}\n`);
  try {
    return await within({ client, signal, timeout }, (waiting) =>
      find(reference, waiting, () => openCache(client, flags, warn)),
    );
  } catch (error) {
    throw explained(error, reference);
  }
}

async function find(
  reference: string,
  { client, budget }: Waiting,
  cache: () => Promise<HarnessCache>,
): Promise<FoundHarness> {
  if (reference.includes(":")) return (await cache()).resolve(reference);
  if (IS_ID.test(reference)) {
    try {
      return { arn: (await client.getHarness(reference, budget)).arn };
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
  const { items, isComplete } = await client.listHarnesses(budget);
  const named = items.filter(({ name }) => name === reference);
  // Of two with one name, the one that is being deleted is the older.
  const [one, ...more] = named.filter(({ status }) => status?.startsWith("DELET") !== true);
  if (more.length > 0) throw ambiguous(reference, named);
  const found = one ?? named[0];
  if (found !== undefined) return { arn: found.arn };
  throw unknown(reference, items, { client, isComplete });
}

/** A name has no "-". */
const IS_ID = /^\w+-[a-zA-Z0-9]{10}$/;

function ambiguous(reference: string, named: readonly Harness[]): SpanlineError {
  const arns = named.map(({ arn }) => arn).join(", ");
  const message = `Several harnesses are named ${reference}: ${arns}; give the ARN of one`;
  return new SpanlineError("invalid_option", message, { details: { path: "harness" } });
}

function unknown(
  reference: string,
  harnesses: readonly Harness[],
  { client, isComplete }: { readonly client: ControlClient; readonly isComplete: boolean },
): SpanlineError {
  const names = harnesses.map(({ name }) => name);
  // An id is a name and ten letters that nobody can guess.
  const near = nearNames(reference.replace(/-\w*$/, ""), names);
  const similar = near.length === 0 ? "" : `; similar names are ${near.join(", ")}`;
  const doubt = isComplete ? "" : " (the service did not show all there are)";
  const message = `There is no harness ${reference} at ${client.origin}${similar}${doubt}`;
  const details = { reference, near };
  return providerError("not_found", message, { phase: "http", details });
}

/** The agent heard nothing yet. Who may invoke it may still not be allowed to look for it, or have only a token for it. */
function explained(error: unknown, reference: string): unknown {
  if (error instanceof AbortError) return new AbortError(error.cause, false);
  if (!(error instanceof SpanlineError) || !NOT_ALLOWED.has(error.code)) return error;
  const { code, message, details } = error;
  const hint = `Cannot look for the harness ${reference}: ${message}. Its ARN needs no look`;
  return errorOf({ code, message: hint, details });
}

const NOT_ALLOWED: ReadonlySet<string> = new Set([
  "access_denied",
  "unauthorized",
  "no_credentials",
]);
