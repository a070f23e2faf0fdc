import { describe, expect, it } from "vitest";
import { isSecretName } from "./is-secret-name.ts";

describe("isSecretName", () => {
  it.each([
    "API_KEY",
    "OPENAI_API_KEYS",
    "X-Api-Key",
    "apiKey",
    "APIKey",
    "apikey",
    "access_token",
    "GITHUB_TOKEN_2",
    "GITHUB_TOKEN2",
    "PGPASSWORD",
    "DB_PASSWD",
    "MYSQL_PWD",
    "CLIENT_SECRET",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "Authorization",
    "Proxy-Authorization",
    "Set-Cookie",
    "SSH_AUTH_SOCK",
    "AWS_ACCESS_KEY_ID",
    "GH_PAT",
  ])("A name that indicates a secret is recognized: %s", (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each([
    "GIT_AUTHOR_NAME",
    "KEYCLOAK_URL",
    "KEYBOARD",
    "MONKEY",
    "MAX_TOKENS",
    "TOKENIZERS_PARALLELISM",
    "AUTH_TYPE",
    "TOKEN_URL",
    "PATH",
    "HOME",
    "COMPASS",
    "BYPASS",
    "SECRETARY",
    "",
  ])("A name that does not indicate a secret is not matched: %j", (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});
