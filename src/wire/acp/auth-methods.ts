/**
 * The authentication methods of `initialize`. The client enters no credentials: Spanline reads credentials from the
 * places which the provider's own tools use, and reads them again on `authenticate`.
 */
export const AUTH_METHODS = [
  {
    id: "environment",
    name: "Credentials of this machine",
    description:
      "Read from the configuration and the environment: an AWS profile or model API keys. Set them, then try again.",
  },
] as const;
