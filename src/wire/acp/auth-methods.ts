/**
 * How a client's user comes to be known to the agent's service. There is nothing to type in: credentials are where the
 * service's own tools have them, and are looked for again.
 */
export const AUTH_METHODS = [
  {
    id: "environment",
    name: "Credentials of this machine",
    description:
      "The configuration and the environment name them: an AWS profile, keys of a model. Set them, then try again.",
  },
] as const;
