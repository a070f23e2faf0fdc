/** The contract for paid work, which an agent card advertises. A bridge is either side of the contract. */
export const EXTERNAL_AGENT_SCHEMA = "harn.external_agent.v1";

/** JSON-RPC method: describes the work before it is paid for. */
export const PLAN_METHOD = "_harn/externalAgent.plan";

/** JSON-RPC method: runs the approved work. */
export const DISPATCH_METHOD = "_harn/externalAgent.dispatch";
