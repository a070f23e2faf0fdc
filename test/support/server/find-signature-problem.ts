import { checkSignature, type KnownCredentials } from "../../../src/aws/check-signature.ts";
import type { ReceivedRequest } from "./scripted-peer.ts";

/** The problem of a request's signature. Null if the signature is valid. */
export function findSignatureProblem(
  { method, url, headers, body }: ReceivedRequest,
  credentials: KnownCredentials,
  now: number,
): string | null {
  const [path = "", query = ""] = url.split("?", 2);
  const flat = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
  const request = { method, path, query, headers: flat, body };
  const verdict = checkSignature(request, {
    service: "bedrock-agentcore",
    region: "us-west-2",
    credentials: [credentials],
    now,
  });
  return verdict.ok ? null : verdict.message;
}
