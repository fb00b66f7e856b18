/** The routes of sign-ins and of the credentials that come of them. */
import type { Route } from '../http/routes.ts';
import { type AuthSurface, authRoutes } from './auth-routes.ts';
import { callbackRoutes } from './callback-routes.ts';
import { credentialRoutes } from './credential-routes.ts';

export const signInRoutes = (surface: AuthSurface): readonly Route[] => [
  ...authRoutes(surface),
  ...callbackRoutes(surface),
  ...credentialRoutes(surface.signIns.vault),
];
