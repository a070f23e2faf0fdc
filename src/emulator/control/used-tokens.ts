import { createHash } from "node:crypto";
import { isObject, type JsonValue } from "../../domain/json.ts";
import { validationError } from "../validation-error.ts";

/** A call that was made with a client token: the same call made again changes nothing. */
export interface UsedToken {
  readonly operation: string;
  readonly token: string;
  /** Of all that the call asked for. */
  readonly fingerprint: string;
  readonly harnessId: string;
  readonly usedAt: number;
}

export const CLIENT_TOKEN = {
  pattern: "[a-zA-Z0-9](-*[a-zA-Z0-9]){0,256}",
  least: 33,
  most: 256,
};

const KEPT_MILLISECONDS = 24 * 60 * 60 * 1000;

export function recentTokens(tokens: readonly UsedToken[], now: number): readonly UsedToken[] {
  return tokens.filter(({ usedAt }) => now - usedAt < KEPT_MILLISECONDS);
}

/** The earlier call with this token; throws when it asked for something else. */
export function earlierCall(
  tokens: readonly UsedToken[],
  call: Pick<UsedToken, "operation" | "token" | "fingerprint">,
): UsedToken | undefined {
  const earlier = tokens.find(
    ({ operation, token }) => operation === call.operation && token === call.token,
  );
  if (earlier !== undefined && earlier.fingerprint !== call.fingerprint) {
    throw validationError(
      "The client token was used before with other parameters",
      "IdempotentParameterMismatchException",
    );
  }
  return earlier;
}

/** The same for the same JSON, in whatever order its keys are. */
export function fingerprintOf(value: JsonValue): string {
  const text = JSON.stringify(value, (_, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(
          Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)),
        )
      : member,
  );
  return createHash("sha256").update(text).digest("hex");
}
