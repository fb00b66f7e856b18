/** Task events of sign-ins. Credentials are never in them. */
import { z } from 'zod';
import { taskEventOf } from './envelope.ts';

const auth = { authId: z.string() };

export const authRequired = taskEventOf('auth-required', {
  ...auth,
  authType: z.enum(['oauth2', 'api-key', 'password', 'biometric', 'custom', 'pat']),
  provider: z.string().optional(),
  scopes: z.array(z.string()).optional(),
  prompt: z.string(),
  authUrl: z.string().optional(),
  encryptionKey: z.looseObject({ kty: z.string() }).optional(),
  authorizationEndpoint: z.string().optional(),
  clientId: z.string().optional(),
  codeChallenge: z.string().optional(),
  codeChallengeMethod: z.literal('S256').optional(),
  infoUrl: z.string().optional(),
  toolCallId: z.string().optional(),
});

export const authCompleted = taskEventOf('auth-completed', { ...auth, userId: z.string() });
