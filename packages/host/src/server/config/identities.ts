/** The configuration keys for identities of agents in other systems. */
import { agentIdProblem } from '@cairn/protocol';
import { z } from 'zod';
import { MAX_DID_LENGTH } from '../identity/did.ts';
import { publicJwk } from '../identity/public-jwk.ts';
import { address, name } from './fields.ts';

const agentId = z.string().superRefine((text, context) => {
  const problem = agentIdProblem(text);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});

const identity = z.union(
  [
    z.strictObject({
      did: z
        .string()
        .regex(/^did:(web|key):/, 'must begin with did:web: or did:key:')
        .max(MAX_DID_LENGTH),
    }),
    z.strictObject({ a2aCard: address, keys: z.array(publicJwk).max(16).default([]) }),
    z.strictObject({ agntcy: z.strictObject({ gatewayId: name, agentId: name }) }),
  ],
  { error: 'must be an object with one of did, a2aCard and agntcy' },
);

export const identitiesSchema = z
  .record(agentId, identity)
  .refine((identities) => Object.keys(identities).length <= 1_000, { message: 'has more than 1000 agents' });
