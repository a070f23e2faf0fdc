import { digestText } from "../../platform/digest.ts";
import type { OpenOptions, Sessions } from "../../session/sessions.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import type { SessionRecord } from "./session-resource.ts";

/**
 * Opens a session under an idempotency key of the caller's principal. A repeated request returns the same session while
 * the session exists. Throws `conflict` if the key was used for another request; no session is opened then.
 */
export async function openOnce(
  sessions: Sessions,
  requested: Omit<OpenOptions, "sessionId" | "label">,
  key: string,
): Promise<SessionRecord> {
  const name = JSON.stringify([requested.principal.id, key]);
  const sessionId = `ses_${digestText(name).slice(0, ID_LENGTH)}`;
  const label = createRequestLabel({ agent: sessions.agents[0], ...requested });
  // Compared afterwards: of two concurrent requests, the second gets the session opened by the first.
  const record = await sessions.open({ ...requested, sessionId, label });
  if (record.label === label) return record;
  const message = `The Idempotency-Key was used for a session with another ${findChangedField(record, label)}`;
  throw new ApiError(409, "conflict", message, { hint: "Use a different key for every session" });
}

/** Characters, the same as in other ids. */
const ID_LENGTH = 26;
const FIELDS = ["agent", "title", "workingDirectory", "copyOf", "copyThrough"] as const;

type RequestedFields = {
  readonly [Field in (typeof FIELDS)[number]]?: string | number | undefined;
};

/**
 * A digest per requested field. The session itself cannot be compared with the request: its folder may be the agent's default,
 * and its title may have changed since.
 */
function createRequestLabel(requested: RequestedFields): string {
  const digests = FIELDS.map((field) =>
    digestText(JSON.stringify(requested[field] ?? null)).slice(0, DIGEST_LENGTH),
  );
  return ["opened", ...digests].join("/");
}

const DIGEST_LENGTH = 32;

function findChangedField({ label }: Pick<SessionRecord, "label">, requested: string): string {
  const [, ...before] = (label ?? "").split("/");
  const [, ...now] = requested.split("/");
  return FIELDS.find((_, at) => before[at] !== now[at]) ?? "agent";
}
