import { createHash } from "node:crypto";
import { isObject, type JsonValue } from "../../data/json.ts";
import { createValidationError } from "../service/validation-error.ts";

/** A request with a client token. The same request with the same token has no further effect. */
export interface UsedToken {
  readonly operation: string;
  readonly token: string;
  /** A digest of all members of the request. */
  readonly fingerprint: string;
  readonly harnessId: string;
  readonly usedAt: number;
}

export const CLIENT_TOKEN_RULE = {
  pattern: "[a-zA-Z0-9](-*[a-zA-Z0-9]){0,256}",
  min: 33,
  max: 256,
};

const TOKEN_LIFETIME_MS = 24 * 60 * 60 * 1000;

export function selectRecentTokens(
  tokens: readonly UsedToken[],
  now: number,
): readonly UsedToken[] {
  return tokens.filter(({ usedAt }) => now - usedAt < TOKEN_LIFETIME_MS);
}

/** The earlier request with this token. Throws if its parameters were different. */
export function findEarlierUse(
  tokens: readonly UsedToken[],
  use: Pick<UsedToken, "operation" | "token" | "fingerprint">,
): UsedToken | undefined {
  const earlier = tokens.find(
    ({ operation, token }) => operation === use.operation && token === use.token,
  );
  if (earlier !== undefined && earlier.fingerprint !== use.fingerprint) {
    throw createValidationError(
      "The client token was used before with other parameters",
      "IdempotentParameterMismatchException",
    );
  }
  return earlier;
}

/** A digest of JSON, independent of key order. */
export function computeFingerprint(value: JsonValue): string {
  const text = JSON.stringify(value, (_, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(
          Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)),
        )
      : member,
  );
  return createHash("sha256").update(text).digest("hex");
}
