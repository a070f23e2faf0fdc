import { describe, expect, it } from "vitest";
import { createAccountMasker } from "./account-masker.ts";

describe("Account masker", () => {
  it("Account numbers in ARNs of every partition get distinct pseudonyms [RMA-P2-4]", () => {
    const hide = createAccountMasker();
    expect(hide("arn:aws:iam::123456789012:role/a arn:aws-cn:x:cn-north-1:210987654321:y/z")).toBe(
      "arn:aws:iam::000000000001:role/a arn:aws-cn:x:cn-north-1:000000000002:y/z",
    );
    expect(hide("arn:aws-us-gov:bedrock-agentcore:us-gov-west-1:123456789012:harness/b")).toBe(
      "arn:aws-us-gov:bedrock-agentcore:us-gov-west-1:000000000001:harness/b",
    );
  });

  it("Numbers outside of ARNs and ARNs without an account stay unchanged", () => {
    const text = "123456789012 arn:aws:s3:::bucket";
    expect(createAccountMasker()(text)).toBe(text);
  });
});
