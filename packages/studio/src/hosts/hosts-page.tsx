/** The other hosts that this one knows. */
import { HostsScreen } from './hosts-screen.tsx';

export const HostsPage = () => <HostsScreen />;
