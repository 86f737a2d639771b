// Package keeper proves that an agent outlives whatever ends the daemon, and
// that nothing outlives its agent.
package keeper
