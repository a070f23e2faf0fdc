import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import {
  parseAuthorization,
  SIGNATURE_ALGORITHM,
  type SignatureClaim,
} from "./check-authorization.ts";
import { canonicalRequest, type SignedRequest } from "./check-canonical.ts";
import { basicTime, skewMessage, timeOf } from "./check-time.ts";

export interface KnownCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Where there is one, requests must carry it too. */
  readonly sessionToken?: string;
}

export interface SignatureRules {
  readonly service: string;
  readonly region: string;
  readonly credentials: readonly KnownCredentials[];
  /** The time by which requests are too old or too new, in milliseconds since 1970. */
  readonly now: number;
}

export type SignatureProblem =
  | "missing"
  | "malformed"
  | "wrong-scope"
  | "skewed"
  | "unknown-key"
  | "payload-mismatch"
  | "mismatch";

export type SignatureVerdict =
  | { readonly ok: true; readonly mode: "sigv4"; readonly accessKeyId: string }
  /** Another mode, for agents behind a JWT authorizer: nothing is signed, and the token is the caller's to check. */
  | { readonly ok: true; readonly mode: "bearer"; readonly token: string }
  | SignatureRefusal;

export interface SignatureRefusal {
  readonly ok: false;
  readonly problem: SignatureProblem;
  /** In the service's words. */
  readonly message: string;
  /** What should have been signed; null where it did not come that far. */
  readonly canonicalRequest: string | null;
}

/** Checks who a request is from, by its `Authorization` header. Shares no code with any signer. */
export function checkSignature(request: SignedRequest, rules: SignatureRules): SignatureVerdict {
  const authorization = header(request, "authorization");
  if (authorization === undefined) return refusal("missing", "Missing Authentication Token");
  const [, token] = /^bearer\s+(\S+)$/i.exec(authorization) ?? [];
  if (token !== undefined) return { ok: true, mode: "bearer", token };
  const claim = parseAuthorization(authorization);
  if (typeof claim === "string") return refusal("malformed", `${claim} ${quoted(authorization)}`);
  const signedAt = header(request, "x-amz-date") ?? header(request, "date");
  return (
    headersProblem(claim, signedAt) ??
    scopeProblem(claim, signedAt ?? "", rules) ??
    skewProblem(signedAt ?? "", rules.now) ??
    signatureProblem(request, claim, { ...rules, signedAt: signedAt ?? "" }) ?? {
      ok: true,
      mode: "sigv4",
      accessKeyId: claim.accessKeyId,
    }
  );
}

function headersProblem(
  { signedHeaders }: SignatureClaim,
  signedAt: string | undefined,
): SignatureRefusal | undefined {
  if (signedAt === undefined || timeOf(signedAt) === undefined) {
    return refusal(
      "malformed",
      "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.",
    );
  }
  if (!signedHeaders.includes("host")) {
    return refusal("malformed", "'Host' must be a 'SignedHeader' in the AWS Authorization.");
  }
  return undefined;
}

function scopeProblem(
  { scope }: SignatureClaim,
  signedAt: string,
  { region, service }: SignatureRules,
): SignatureRefusal | undefined {
  if (scope.region !== region) {
    return refusal(
      "wrong-scope",
      `Credential should be scoped to a valid region, not '${scope.region}'. `,
    );
  }
  if (scope.service !== service) {
    return refusal("wrong-scope", `Credential should be scoped to correct service: '${service}'. `);
  }
  const date = basicTime(timeOf(signedAt) ?? 0).slice(0, 8);
  if (scope.date !== date) {
    return refusal(
      "wrong-scope",
      "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: " +
        `'${scope.date}' != '${date}', from '${signedAt}'.`,
    );
  }
  return undefined;
}

function skewProblem(signedAt: string, now: number): SignatureRefusal | undefined {
  const message = skewMessage(timeOf(signedAt) ?? 0, now);
  return message === undefined ? undefined : refusal("skewed", message);
}

interface SigningFacts {
  readonly credentials: readonly KnownCredentials[];
  readonly signedAt: string;
}

function signatureProblem(
  request: SignedRequest,
  claim: SignatureClaim,
  { credentials, signedAt }: SigningFacts,
): SignatureRefusal | undefined {
  const token = header(request, "x-amz-security-token");
  const known = credentials.find(
    ({ accessKeyId, sessionToken }) => accessKeyId === claim.accessKeyId && sessionToken === token,
  );
  if (known === undefined) {
    return refusal("unknown-key", "The security token included in the request is invalid.");
  }
  const payloadHash = sha256(request.body);
  const canonical = canonicalRequest(request, claim.signedHeaders, payloadHash);
  if ((header(request, "x-amz-content-sha256") ?? payloadHash) !== payloadHash) {
    const message = "The provided 'x-amz-content-sha256' header does not match what was computed.";
    return refusal("payload-mismatch", message, canonical);
  }
  const { date, region, service } = claim.scope;
  const stringToSign = [
    SIGNATURE_ALGORITHM,
    basicTime(timeOf(signedAt) ?? 0),
    `${date}/${region}/${service}/aws4_request`,
    sha256(canonical),
  ].join("\n");
  const key = [date, region, service, "aws4_request"].reduce<Buffer>(
    hmac,
    Buffer.from(`AWS4${known.secretAccessKey}`),
  );
  const expected = hmac(key, stringToSign).toString("hex");
  if (isSame(expected, claim.signature)) return undefined;
  return refusal("mismatch", mismatch(canonical, stringToSign), canonical);
}

function mismatch(canonical: string, stringToSign: string): string {
  return (
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key " +
    "and signing method. Consult the service documentation for details.\n\n" +
    `The Canonical String for this request should have been\n'${canonical}'\n\n` +
    `The String-to-Sign should have been\n'${stringToSign}'\n`
  );
}

function refusal(
  problem: SignatureProblem,
  message: string,
  canonical: string | null = null,
): SignatureRefusal {
  return { ok: false, problem, message, canonicalRequest: canonical };
}

function header({ headers }: SignedRequest, wanted: string): string | undefined {
  return headers.find(([name]) => name === wanted)?.[1];
}

/** Without the signature itself, which is nobody's business in a log. */
function quoted(authorization: string): string {
  return `Authorization=${authorization.replace(/(Signature=).*/s, "$1…")}`;
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: Buffer, data: string): Buffer {
  return createHmac("sha256", key).update(data).digest();
}

function isSame(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
