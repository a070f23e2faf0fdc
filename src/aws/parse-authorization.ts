/** The parts of an `Authorization` header of Signature Version 4. */
export interface SignatureClaim {
  readonly accessKeyId: string;
  readonly scope: CredentialScope;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

export interface CredentialScope {
  /** Eight digits: YYYYMMDD. */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

export const SIGNATURE_ALGORITHM = "AWS4-HMAC-SHA256";

/** Parses the header. Returns the error message of AWS as a string if the header is invalid. */
export function parseAuthorization(header: string): SignatureClaim | string {
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
