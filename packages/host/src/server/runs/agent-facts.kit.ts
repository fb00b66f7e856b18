/** What a host of tests says about its agents: scripted models, no memory, no limits. Not shipped. */
import { allModelClasses } from '../catalogue/model-classes.ts';

export const agentFacts = {
  reasoning: { verbosity: 'summary', tokenLimit: 512 },
  costEstimates: false,
  memory: null,
  modelClasses: allModelClasses,
  isLive: false,
  escalates: true,
  providers: [],
  byok: [],
  limitsToolRate: false,
  hasMcpTools: false,
  mockProviders: [],
} as const;
