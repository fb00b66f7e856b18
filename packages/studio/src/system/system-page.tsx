/** How the host is. */
import { SystemScreen } from './system-screen.tsx';

export const SystemPage = () => <SystemScreen />;
