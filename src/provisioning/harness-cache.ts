import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import type { HarnessSpec } from "../wire/agentcore/control-settings.ts";
import { contentName, digestIn, shortBase } from "./content-name.ts";
import type { ControlClient } from "./control-client.ts";
import type { HandleStore } from "./handle-store.ts";
import type { HarnessHandle } from "./harness-handle.ts";
import { provision, type Provisioned, type ProvisionOptions } from "./provision.ts";
import { isNotFound } from "./transient.ts";
import { HarnessDeletingError, HarnessFailedError } from "./wait-errors.ts";
import { waitForEndpoint, waitForHarness } from "./wait.ts";
import { DEFAULT_ENDPOINT, DEFAULT_TIMEOUT, startWaiting } from "./waiting.ts";

export type EnsureOptions = Omit<ProvisionOptions, "client">;

export interface Ensured {
  readonly handle: HarnessHandle;
  readonly origin: Provisioned["origin"] | "remembered";
}

/** Harnesses by their content: made once, found ever after. */
export interface HarnessCache {
  /** The harness of this content, under a name that says so. */
  ensure(spec: HarnessSpec, options: EnsureOptions): Promise<Ensured>;
  /** To be told when a harness was deleted. */
  forget(name: string): Promise<void>;
  /** Lets `base:tag` stand for the harness of this name, which was made from that base. A tag moves. */
  tag(base: string, tag: string, name: string): Promise<void>;
  /** What `base:tag` stands for. Rejects when it stands for nothing. */
  resolve(reference: string): Promise<HarnessHandle>;
  /** The digests that some tag of this base stands for. */
  taggedDigests(base: string): Promise<ReadonlySet<string>>;
}

export function harnessCache(client: ControlClient, store: HandleStore): HarnessCache {
  /** What this process has seen for itself; a store may be older than the last deletion. */
  const verified = new Set<string>();
  const keyOf = (name: string): string => `${client.origin} ${name}`;
  const tagOf = (base: string, tag: string): string => `${client.origin} ${shortBase(base)}:${tag}`;

  async function forget(name: string): Promise<void> {
    verified.delete(keyOf(name));
    await store.deleteHandle(keyOf(name));
  }

  async function remembered(name: string, options: EnsureOptions): Promise<HarnessHandle | null> {
    const handle = await store.getHandle(keyOf(name));
    const isWanted = handle?.endpoint === (options.endpoint ?? DEFAULT_ENDPOINT);
    if (handle === null || !isWanted) return null;
    if (verified.has(keyOf(name)) || (await isThere(handle, { ...options, client }))) return handle;
    await forget(name);
    return null;
  }

  async function keep(handle: HarnessHandle, { report }: EnsureOptions): Promise<void> {
    verified.add(keyOf(handle.name));
    try {
      await store.putHandle(keyOf(handle.name), handle);
    } catch (error) {
      report?.warn(
        `Harness ${handle.name} is there, but could not be remembered: ${thrownMessage(error)}`,
      );
    }
  }

  return {
    async ensure(spec, options) {
      const name = contentName(spec);
      const start = client.clock.monotonic();
      const known = await remembered(name, options);
      if (known !== null) {
        verified.add(keyOf(name));
        return { handle: known, origin: "remembered" };
      }
      // One deadline for both: what the look has taken is gone.
      const left = (options.timeout ?? DEFAULT_TIMEOUT) - (client.clock.monotonic() - start);
      const rest = { ...options, client, timeout: Math.max(1, left) };
      const { handle, origin } = await provision({ ...spec, name }, rest);
      await keep(handle, options);
      return { handle, origin };
    },
    forget,
    async tag(base, tag, name) {
      const digest = digestIn(name, base);
      checkTag(tag);
      if (digest === null) throw unusable(`${name} was not made from ${base} by its content`);
      await store.putTag(tagOf(base, tag), digest);
    },
    async resolve(reference) {
      const [base = "", tag] = reference.split(/:(.*)/s);
      if (tag === undefined) throw unusable(`${reference} has no tag; wanted base:tag`);
      const digest = await store.getTag(tagOf(base, tag));
      if (digest === null) throw unknownTag(reference, "nothing was given this tag here");
      const handle = await store.getHandle(keyOf(`${shortBase(base)}_${digest}`));
      if (handle !== null) return handle;
      throw unknownTag(reference, `the harness of digest ${digest} is not known here`);
    },
    async taggedDigests(base) {
      const tags = await store.tagsFrom(tagOf(base, ""));
      return new Set(tags.values());
    },
  };
}

/** What is there and cannot be used is as good as gone: it will be looked at when it is made again. */
async function isThere(handle: HarnessHandle, options: ProvisionOptions): Promise<boolean> {
  const waiting = startWaiting(options);
  try {
    await options.client.getHarness(handle.id, waiting.budget);
    await waitForHarness(waiting, handle.id);
    await waitForEndpoint(waiting, handle.id, { name: handle.endpoint });
    return true;
  } catch (error) {
    const isGone = error instanceof HarnessDeletingError || error instanceof HarnessFailedError;
    if (isNotFound(error) || isGone) return false;
    throw error;
  } finally {
    waiting.budget.release();
  }
}

function unusable(message: string): SpanlineError {
  return new SpanlineError("invalid_option", message);
}

function unknownTag(reference: string, problem: string): SpanlineError {
  return new SpanlineError("unknown_tag", `${reference}: ${problem}`, { details: { reference } });
}

/** Throws when a text cannot be a tag. */
export function checkTag(tag: string): void {
  if (/^[\w.-]{1,128}$/.test(tag)) return;
  throw unusable(`${tag} is no tag: use letters, digits, "_", "." and "-"`);
}
