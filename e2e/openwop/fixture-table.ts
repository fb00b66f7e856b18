/**
 * The fixtures this host does not run yet, each with the reason. All others must register and end as the protocol
 * specifies.
 */

/** Node types that are not implemented. The host must refuse a definition that names one, never accept it silently. */
export const gated: Readonly<Record<string, readonly string[]>> = {
  'agents.deployment: an agent pinned to a channel is not offered': ['conformance-agent-channel-dispatch'],
  'node types of packs and samples, which are not installed': [
    'conformance-wasm-pack-memory-cap-breach',
    'conformance-wasm-pack-roundtrip',
    'openwop-smoke-byok-roundtrip',
    'openwop-smoke-cost-emit',
  ],
};

/**
 * Fixtures that register, and whose runs are not compared: `envelopes.reliability`, events of models that answer off
 * their schema, is not offered.
 */
export const registeredOnly: readonly string[] = [
  'conformance-envelope-nl-to-format-engaged',
  'conformance-envelope-recovery-applied',
  'conformance-envelope-refusal',
  'conformance-envelope-retry-attempted',
  'conformance-envelope-retry-exhausted',
  'conformance-envelope-truncated',
  'conformance-envelope-truncation-cap-exhaustion',
];

/** Fixtures that need more than a host, and are run elsewhere. */
export const postponed: Readonly<Record<string, readonly string[]>> = {
  'it needs an A2A peer: a2a-roundtrip.test.ts': ['conformance-a2a-task-roundtrip'],
  'it needs an MCP server: mcp-roundtrip.test.ts': ['conformance-mcp-tool-roundtrip'],
};
