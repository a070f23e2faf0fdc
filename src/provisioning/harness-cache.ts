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
import { formatUnknownName } from "../text/unknown-name.ts";

export type EnsureOptions = Omit<ProvisionOptions, "client">;

/** A usable harness. `origin` is `remembered` if its handle came from the store. */
export interface EnsuredHarness {
  readonly handle: HarnessHandle;
  readonly origin: ProvisionResult["origin"] | "remembered";
}

/** Harnesses by content: created once, then found by name. */
export interface HarnessCache {
  /** Returns the harness with this content, and creates it if necessary. Its name contains the content digest. */
  ensure(spec: HarnessSpec, options: EnsureOptions): Promise<EnsuredHarness>;
  /** Must be called after a harness was deleted. */
  forget(name: string): Promise<void>;
  /** Assigns `base:tag` to a harness created from this base. An existing tag is moved. */
  setTag(base: string, tag: string, name: string): Promise<void>;
  /** Resolves `base:tag` to a harness. Throws `unknown_tag` if the tag is not assigned. */
  resolveTag(reference: string): Promise<HarnessHandle>;
  /** The digests of all tagged harnesses of this base. */
  listTaggedDigests(base: string): Promise<ReadonlySet<string>>;
}

export function createHarnessCache(client: ControlClient, store: HandleStore): HarnessCache {
  /** Harnesses verified by this process; a stored handle may be older than a deletion. */
  const verified = new Set<string>();
  const formatKey = (name: string): string => formatStoreKey(client, name);

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
        `Harness ${handle.name} exists, but could not be stored: ${formatThrown(error)}`,
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
      // Both steps share one deadline, so the time already used is subtracted.
      const remaining =
        (options.timeout ?? DEFAULT_TIMEOUT_MS) - (client.clock.monotonic() - start);
      const provisionOptions = { ...options, client, timeout: Math.max(1, remaining) };
      const { handle, origin } = await provisionHarness({ ...spec, name }, provisionOptions);
      await storeHandle(handle, options);
      return { handle, origin };
    },
    forget,
    ...createTagMethods(client, store),
  };
}

function formatStoreKey({ origin }: ControlClient, name: string): string {
  return `${origin} ${name}`;
}

/** Tags are names of harnesses that can be moved, stored by base and tag. */
function createTagMethods(client: ControlClient, store: HandleStore) {
  const formatTag = (base: string, tag: string): string =>
    formatStoreKey(client, `${shortenBase(base)}:${tag}`);
  return {
    async setTag(base: string, tag: string, name: string): Promise<void> {
      const digest = parseContentDigest(name, base);
      checkTag(tag);
      if (digest === null)
        throw createOptionError(`${name} was not created from ${base} by its content`);
      await store.putTag(formatTag(base, tag), digest);
    },
    async resolveTag(reference: string): Promise<HarnessHandle> {
      const [base = "", tag] = reference.split(/:(.*)/s);
      if (tag === undefined) throw createOptionError(`${reference} has no tag: expected base:tag`);
      const digest = await store.getTag(formatTag(base, tag));
      if (digest === null) {
        const tags = await store.listTags(formatTag(base, ""));
        const names = [...tags.keys()].map((key) => key.slice(formatStoreKey(client, "").length));
        throw createUnknownTagError(
          reference,
          formatUnknownName("Harness tag", reference, { names }),
        );
      }
      const handle = await store.getHandle(
        formatStoreKey(client, `${shortenBase(base)}_${digest}`),
      );
      if (handle !== null) return handle;
      throw createUnknownTagError(
        reference,
        `${reference}: the harness with the digest ${digest} is unknown`,
      );
    },
    async listTaggedDigests(base: string): Promise<ReadonlySet<string>> {
      const tags = await store.listTags(formatTag(base, ""));
      return new Set(tags.values());
    },
  };
}

/** A harness which exists but cannot be used counts as missing; provisioning examines it again. */
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

function createUnknownTagError(reference: string, message: string): SpanlineError {
  return new SpanlineError("unknown_tag", message, { details: { reference } });
}

/** Throws `invalid_option` if the string is not a valid tag. */
export function checkTag(tag: string): void {
  if (/^[\w.-]{1,128}$/.test(tag)) return;
  throw createOptionError(
    `${tag} is not a valid tag: expected 1 to 128 letters, digits, "_", "." and "-"`,
  );
}
