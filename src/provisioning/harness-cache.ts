import { SpanlineError, formatThrown } from "../domain/errors.ts";
import type { HarnessSpec } from "../wire/agentcore/control/harness-settings.ts";
import { createContentName, parseContentDigest, shortenBase } from "./content-name.ts";
import type { ControlClient } from "./control-client.ts";
import type { HandleStore } from "./handle-store.ts";
import type { HarnessHandle } from "./harness-handle.ts";
import {
  provisionHarness,
  type ProvisionResult,
  type ProvisionOptions,
} from "./provision-harness.ts";
import { isNotFound } from "./transient.ts";
import { HarnessDeletingError, HarnessFailedError } from "./wait-errors.ts";
import { waitForEndpoint, waitForHarness } from "./wait-until-ready.ts";
import { DEFAULT_ENDPOINT, DEFAULT_TIMEOUT_MS, startPoll } from "./poll.ts";

export type EnsureOptions = Omit<ProvisionOptions, "client">;

export interface EnsuredHarness {
  readonly handle: HarnessHandle;
  readonly origin: ProvisionResult["origin"] | "remembered";
}

/** Harnesses by their content: made once, found ever after. */
export interface HarnessCache {
  /** The harness of this content, under a name that says so. */
  ensure(spec: HarnessSpec, options: EnsureOptions): Promise<EnsuredHarness>;
  /** To be told when a harness was deleted. */
  forget(name: string): Promise<void>;
  /** Lets `base:tag` stand for the harness of this name, which was made from that base. A tag moves. */
  setTag(base: string, tag: string, name: string): Promise<void>;
  /** What `base:tag` stands for. Rejects when it stands for nothing. */
  resolveTag(reference: string): Promise<HarnessHandle>;
  /** The digests that some tag of this base stands for. */
  listTaggedDigests(base: string): Promise<ReadonlySet<string>>;
}

export function createHarnessCache(client: ControlClient, store: HandleStore): HarnessCache {
  /** What this process has seen for itself; a store may be older than the last deletion. */
  const verified = new Set<string>();
  const formatKey = (name: string): string => `${client.origin} ${name}`;
  const formatTag = (base: string, tag: string): string =>
    `${client.origin} ${shortenBase(base)}:${tag}`;

  async function forget(name: string): Promise<void> {
    verified.delete(formatKey(name));
    await store.deleteHandle(formatKey(name));
  }

  async function findStored(name: string, options: EnsureOptions): Promise<HarnessHandle | null> {
    const handle = await store.getHandle(formatKey(name));
    const hasEndpoint = handle?.endpoint === (options.endpoint ?? DEFAULT_ENDPOINT);
    if (handle === null || !hasEndpoint) return null;
    if (verified.has(formatKey(name)) || (await isUsable(handle, { ...options, client })))
      return handle;
    await forget(name);
    return null;
  }

  async function storeHandle(handle: HarnessHandle, { report }: EnsureOptions): Promise<void> {
    verified.add(formatKey(handle.name));
    try {
      await store.putHandle(formatKey(handle.name), handle);
    } catch (error) {
      report?.warn(
        `Harness ${handle.name} is there, but could not be remembered: ${formatThrown(error)}`,
      );
    }
  }

  return {
    async ensure(spec, options) {
      const name = createContentName(spec);
      const start = client.clock.monotonic();
      const storedHandle = await findStored(name, options);
      if (storedHandle !== null) {
        verified.add(formatKey(name));
        return { handle: storedHandle, origin: "remembered" };
      }
      // One deadline for both: what the look has taken is gone.
      const remaining =
        (options.timeout ?? DEFAULT_TIMEOUT_MS) - (client.clock.monotonic() - start);
      const provisionOptions = { ...options, client, timeout: Math.max(1, remaining) };
      const { handle, origin } = await provisionHarness({ ...spec, name }, provisionOptions);
      await storeHandle(handle, options);
      return { handle, origin };
    },
    forget,
    async setTag(base, tag, name) {
      const digest = parseContentDigest(name, base);
      checkTag(tag);
      if (digest === null)
        throw createOptionError(`${name} was not made from ${base} by its content`);
      await store.putTag(formatTag(base, tag), digest);
    },
    async resolveTag(reference) {
      const [base = "", tag] = reference.split(/:(.*)/s);
      if (tag === undefined) throw createOptionError(`${reference} has no tag; wanted base:tag`);
      const digest = await store.getTag(formatTag(base, tag));
      if (digest === null)
        throw createUnknownTagError(reference, "nothing was given this tag here");
      const handle = await store.getHandle(formatKey(`${shortenBase(base)}_${digest}`));
      if (handle !== null) return handle;
      throw createUnknownTagError(reference, `the harness of digest ${digest} is not known here`);
    },
    async listTaggedDigests(base) {
      const tags = await store.listTags(formatTag(base, ""));
      return new Set(tags.values());
    },
  };
}

/** What is there and cannot be used is as good as gone: it will be looked at when it is made again. */
async function isUsable(handle: HarnessHandle, options: ProvisionOptions): Promise<boolean> {
  const poll = startPoll(options);
  try {
    await options.client.getHarness(handle.id, poll.budget);
    await waitForHarness(poll, handle.id);
    await waitForEndpoint(poll, handle.id, { name: handle.endpoint });
    return true;
  } catch (error) {
    const isDeletedOrFailed =
      error instanceof HarnessDeletingError || error instanceof HarnessFailedError;
    if (isNotFound(error) || isDeletedOrFailed) return false;
    throw error;
  } finally {
    poll.budget.release();
  }
}

function createOptionError(message: string): SpanlineError {
  return new SpanlineError("invalid_option", message);
}

function createUnknownTagError(reference: string, problem: string): SpanlineError {
  return new SpanlineError("unknown_tag", `${reference}: ${problem}`, { details: { reference } });
}

/** Throws when a text cannot be a tag. */
export function checkTag(tag: string): void {
  if (/^[\w.-]{1,128}$/.test(tag)) return;
  throw createOptionError(`${tag} is no tag: use letters, digits, "_", "." and "-"`);
}
