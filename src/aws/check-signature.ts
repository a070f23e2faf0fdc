import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { formatIsoTime } from "../text/format-iso-time.ts";
import { buildCanonicalRequest, type SignedRequest } from "./canonical-request.ts";

export interface KnownCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Present for temporary credentials. Requests must then carry the same token. */
  readonly sessionToken?: string;
}

export interface SignatureRules {
  readonly service: string;
  readonly region: string;
  readonly credentials: readonly KnownCredentials[];
  /** The current time, in milliseconds since 1970. Decides whether a signature has expired. */
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
  /** For agents behind a JWT authorizer: the request has no signature, and the caller must check the token. */
  | { readonly ok: true; readonly mode: "bearer"; readonly token: string }
  | SignatureRefusal;

export interface SignatureRefusal {
  readonly ok: false;
  readonly problem: SignatureProblem;
  /** The message of AWS for this problem. */
  readonly message: string;
  /** The text that should have been signed. Null if an earlier check failed. */
  readonly canonicalRequest: string | null;
}

/**
 * Authenticates a request by its `Authorization` header. Shares no code with any signer, so tests compare two
 * independent implementations.
 */
export function checkSignature(request: SignedRequest, rules: SignatureRules): SignatureVerdict {
  const authorization = readHeader(request, "authorization");
  if (authorization === undefined) return createRefusal("missing", "Missing Authentication Token");
  const [, token] = /^bearer\s+(\S+)$/i.exec(authorization) ?? [];
  if (token !== undefined) return { ok: true, mode: "bearer", token };
  const claim = parseAuthorization(authorization);
  if (typeof claim === "string")
    return createRefusal("malformed", `${claim} ${redactSignature(authorization)}`);
  const signedAt = readHeader(request, "x-amz-date") ?? readHeader(request, "date");
  return (
    checkSignedHeaders(claim, signedAt) ??
    checkScope(claim, signedAt ?? "", rules) ??
    checkSkew(signedAt ?? "", rules.now) ??
    verifySignature(request, claim, { ...rules, signedAt: signedAt ?? "" }) ?? {
      ok: true,
      mode: "sigv4",
      accessKeyId: claim.accessKeyId,
    }
  );
}

function checkSignedHeaders(
  { signedHeaders }: SignatureClaim,
  signedAt: string | undefined,
): SignatureRefusal | undefined {
  if (signedAt === undefined || parseTime(signedAt) === undefined) {
    return createRefusal(
      "malformed",
      "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.",
    );
  }
  if (!signedHeaders.includes("host")) {
    return createRefusal("malformed", "'Host' must be a 'SignedHeader' in the AWS Authorization.");
  }
  return undefined;
}

function checkScope(
  { scope }: SignatureClaim,
  signedAt: string,
  { region, service }: SignatureRules,
): SignatureRefusal | undefined {
  if (scope.region !== region) {
    return createRefusal(
      "wrong-scope",
      `Credential should be scoped to a valid region, not '${scope.region}'. `,
    );
  }
  if (scope.service !== service) {
    return createRefusal(
      "wrong-scope",
      `Credential should be scoped to correct service: '${service}'. `,
    );
  }
  const date = formatBasicTime(parseTime(signedAt) ?? 0).slice(0, 8);
  if (scope.date !== date) {
    return createRefusal(
      "wrong-scope",
      "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: " +
        `'${scope.date}' != '${date}', from '${signedAt}'.`,
    );
  }
  return undefined;
}

function checkSkew(signedAt: string, now: number): SignatureRefusal | undefined {
  const message = describeSkew(parseTime(signedAt) ?? 0, now);
  return message === undefined ? undefined : createRefusal("skewed", message);
}

interface SigningFacts {
  readonly credentials: readonly KnownCredentials[];
  readonly signedAt: string;
}

function verifySignature(
  request: SignedRequest,
  claim: SignatureClaim,
  { credentials, signedAt }: SigningFacts,
): SignatureRefusal | undefined {
  const token = readHeader(request, "x-amz-security-token");
  const credential = credentials.find(
    ({ accessKeyId, sessionToken }) => accessKeyId === claim.accessKeyId && sessionToken === token,
  );
  if (credential === undefined) {
    return createRefusal("unknown-key", "The security token included in the request is invalid.");
  }
  const payloadHash = sha256(request.body);
  const canonical = buildCanonicalRequest(request, claim.signedHeaders, payloadHash);
  if ((readHeader(request, "x-amz-content-sha256") ?? payloadHash) !== payloadHash) {
    const message = "The x-amz-content-sha256 header does not match the digest of the body.";
    return createRefusal("payload-mismatch", message, canonical);
  }
  const { date, region, service } = claim.scope;
  const stringToSign = [
    SIGNATURE_ALGORITHM,
    formatBasicTime(parseTime(signedAt) ?? 0),
    `${date}/${region}/${service}/aws4_request`,
    sha256(canonical),
  ].join("\n");
  const key = [date, region, service, "aws4_request"].reduce<Buffer>(
    hmac,
    Buffer.from(`AWS4${credential.secretAccessKey}`),
  );
  const expected = hmac(key, stringToSign).toString("hex");
  if (isEqual(expected, claim.signature)) return undefined;
  return createRefusal("mismatch", formatMismatch(canonical, stringToSign), canonical);
}

function formatMismatch(canonical: string, stringToSign: string): string {
  return (
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key " +
    "and signing method. Consult the service documentation for details.\n\n" +
    `The Canonical String for this request should have been\n'${canonical}'\n\n` +
    `The String-to-Sign should have been\n'${stringToSign}'\n`
  );
}

function createRefusal(
  problem: SignatureProblem,
  message: string,
  canonical: string | null = null,
): SignatureRefusal {
  return { ok: false, problem, message, canonicalRequest: canonical };
}

function readHeader({ headers }: SignedRequest, headerName: string): string | undefined {
  return headers.find(([name]) => name === headerName)?.[1];
}

/** Removes the signature, which must not appear in logs. */
function redactSignature(authorization: string): string {
  return `Authorization=${authorization.replace(/(Signature=).*/s, "$1…")}`;
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: Buffer, data: string): Buffer {
  return createHmac("sha256", key).update(data).digest();
}

function isEqual(left: string, right: string): boolean {
  const [leftBytes, rightBytes] = [Buffer.from(left), Buffer.from(right)];
  return leftBytes.length === rightBytes.length && timingSafeEqual(leftBytes, rightBytes);
}

const MAX_SKEW_MINUTES = 5;
const MAX_SKEW_MS = MAX_SKEW_MINUTES * 60 * 1000;

/** The message of AWS for a signature that is too old or too new. Undefined if the time is valid. */
function describeSkew(signedAt: number, now: number): string | undefined {
  const [signedTime, current] = [formatBasicTime(signedAt), formatBasicTime(now)];
  if (signedAt < now - MAX_SKEW_MS) {
    const earliest = formatBasicTime(now - MAX_SKEW_MS);
    return `Signature expired: ${signedTime} is now earlier than ${earliest} (${current} - ${MAX_SKEW_MINUTES} min.)`;
  }
  if (signedAt > now + MAX_SKEW_MS) {
    const latest = formatBasicTime(now + MAX_SKEW_MS);
    return `Signature not yet current: ${signedTime} is still later than ${latest} (${current} + ${MAX_SKEW_MINUTES} min.)`;
  }
  return undefined;
}

/** Parses `20240229T235959Z` or an HTTP date. */
function parseTime(text: string): number | undefined {
  const extended = text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z");
  const time = Date.parse(extended);
  return Number.isNaN(time) ? undefined : time;
}

/** Formats a time as `20240229T235959Z`, the format of signatures. */
function formatBasicTime(milliseconds: number): string {
  return formatIsoTime(milliseconds).replaceAll(/[-:]|\.\d+/g, "");
}

/** The parts of an `Authorization` header of Signature Version 4. */
interface SignatureClaim {
  readonly accessKeyId: string;
  readonly scope: CredentialScope;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

interface CredentialScope {
  /** Eight digits: YYYYMMDD. */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

const SIGNATURE_ALGORITHM = "AWS4-HMAC-SHA256";

/** Parses the header. Returns the error message of AWS as a string if the header is invalid. */
function parseAuthorization(header: string): SignatureClaim | string {
  const [algorithm = "", rest = ""] = header.split(/\s+(.*)/s);
  if (algorithm !== SIGNATURE_ALGORITHM) {
    return `Unsupported AWS 'algorithm': '${algorithm}' (only ${SIGNATURE_ALGORITHM} is supported).`;
  }
  const parts = new Map(rest.split(",").map(splitPair));
  const missing = ["Credential", "Signature", "SignedHeaders"].filter((key) => !parts.get(key));
  if (missing.length > 0) {
    return missing.map((key) => `Authorization header requires '${key}' parameter.`).join(" ");
  }
  const [accessKeyId, date, region, service, terminator, ...more] = (
    parts.get("Credential") ?? ""
  ).split("/");
  const isComplete = accessKeyId && date && region && service && more.length === 0;
  if (!isComplete || terminator !== "aws4_request") {
    return "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term";
  }
  return {
    accessKeyId,
    scope: { date, region, service },
    signedHeaders: (parts.get("SignedHeaders") ?? "").split(";"),
    signature: parts.get("Signature") ?? "",
  };
}

function splitPair(part: string): [string, string] {
  const [key = "", value = ""] = part.trim().split(/=(.*)/s);
  return [key, value];
}
