import { join } from "node:path";
import { randomString } from "../platform/random.ts";
import { createSessions } from "../session/runtime/create-sessions.ts";
import type { SessionsOptions } from "../session/runtime/sessions-options.ts";
import type { VerifySignature } from "../session/runtime/log/receipt-verifier.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../store/sqlite/sqlite-store.ts";
import type { BridgeOptions } from "./bridge-options.ts";
import { applyRetention } from "./apply-retention.ts";
import type { OwnedSessions } from "./owner/ownership.ts";
import { openReceiptHeads, type OpenReceiptHeads } from "./receipt-heads.ts";
import { openSigningKeys, type SigningKeys } from "./audit/signing-keys.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

/** Runs the sessions of a directory in this process and resumes interrupted turns. */
export async function startSessions(
  options: BridgeOptions,
  broken: (error: unknown) => void,
  { create = true }: Pick<SqliteStoreOptions, "create"> = {},
): Promise<OwnedSessions> {
  const { directory, keysDirectory, clock, agents, datasync, retention, signal } = options;
  const { coalesceMs, seed, version } = options;
  const report = (error: unknown): void => {
    // An abort of the start is not an error.
    if (signal?.aborted !== true || error !== signal.reason) options.report(error);
  };
  /** Cleanup functions, latest first. */
  const cleanups: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of cleanups.splice(0)) await end().catch(report);
  };
  try {
    const store = await openSqliteStore({
      file: join(directory, "sessions.db"),
      clock,
      onFailure: broken,
      create,
      ...omitUndefined({ datasync }),
    });
    cleanups.unshift(() => store.close());
    const started = await agents();
    cleanups.unshift(() => started.close());
    const owner = `${process.pid}-${randomString(8)}`;
    const signing: Signing =
      keysDirectory === undefined ? {} : await openSigning(keysDirectory, clock.now(), report);
    cleanups.unshift(async () => signing.heads?.close());
    const sessions = createSessions({
      store,
      agents: started.agents,
      clock,
      owner,
      report,
      // Loaded only if a client adds tools to a session.
      openClientTools: async (equipment, place) => {
        const { openClientTools } = await import("./client-tools/open-client-tools.ts");
        const environment = process.env;
        return openClientTools(equipment, place, { version, clock, environment, report });
      },
      ...omitUndefined({ coalesceMs, seed, signal }),
      ...signing,
    });
    cleanups.unshift(() => sessions.close());
    await sessions.resumeInterrupted();
    if (retention !== undefined) {
      cleanups.unshift(await applyRetention(retention, { store, clock, owner, report }));
    }
    const { config } = started;
    return { sessions, close, ...omitUndefined({ config }) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the keys for signing and verifying receipts, and the recorded receipt heads. */
async function openSigning(
  directory: string,
  now: number,
  report: (error: unknown) => void,
): Promise<Required<Signing>> {
  const keys = await openSigningKeys(directory, now);
  const heads = await openReceiptHeads(directory, report);
  return { sign: keys.sign, verify: createVerifier(keys), heads };
}

interface Signing extends Pick<SessionsOptions, "sign" | "verify"> {
  readonly heads?: OpenReceiptHeads;
}

function createVerifier({ check }: SigningKeys): VerifySignature {
  return (content, signature) => check(content, signature) === "valid";
}
