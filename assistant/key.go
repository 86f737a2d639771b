package assistant

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Key says where the key of the model lies. At most one of its fields is set;
// none is a model that wants no key.
type Key struct {
	Env     string   // the name of an environment variable
	File    string   // a file that only its owner may read
	Command []string // a program that prints it: the system's keyring
}

// keyTime bounds how long a keyring may take: it may ask the person to unlock it.
const keyTime = 60 * time.Second

// Check reports what can be known to be wrong without asking for the key.
func (k Key) Check() error {
	switch {
	case k.Env != "" && os.Getenv(k.Env) == "":
		return fmt.Errorf("no key for the model: %s is not set (in the environment, or in the file that env_file: of config.yaml names)", k.Env)
	case k.File != "":
		return checkFile(k.File)
	case len(k.Command) > 0:
		if _, err := exec.LookPath(k.Command[0]); err != nil {
			return fmt.Errorf("no key for the model: %s of config.yaml is not installed", k.Command[0])
		}
	}
	return nil
}

func checkFile(name string) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no key for the model: %s is not there", name)
	case err != nil:
		return fmt.Errorf("no key for the model: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("no key for the model: %s is no file", name)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("the key of the model can be read by others: chmod 600 %s", name)
	}
	return nil
}

// Load gets the key. It never looks anywhere else than where it is said to be:
// a keyring that is locked is no reason to read a file.
func (k Key) Load(ctx context.Context) (string, error) {
	if err := k.Check(); err != nil {
		return "", err
	}
	var key string
	switch {
	case k.Env != "":
		key = os.Getenv(k.Env)
		if err := os.Unsetenv(k.Env); err != nil { // git need not have it
			return "", err
		}
	case k.File != "":
		data, err := os.ReadFile(k.File)
		if err != nil {
			return "", fmt.Errorf("no key for the model: %w", err)
		}
		key = string(data)
	case len(k.Command) > 0:
		var err error
		if key, err = k.run(ctx); err != nil {
			return "", err
		}
	default:
		return "", nil
	}
	if key = strings.TrimSpace(key); key == "" || strings.ContainsAny(key, " \t\r\n") {
		return "", errors.New("no key for the model: what stands there is no key (one line without blanks)")
	}
	return key, nil
}

func (k Key) run(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, keyTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, k.Command[0], k.Command[1:]...)
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("no key for the model: %s gave no answer in time", k.Command[0])
	case err != nil:
		why, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return "", fmt.Errorf("no key for the model: %s: %s (is the keyring locked?)", k.Command[0], first(why, err.Error()))
	case out.Len() == 0:
		return "", fmt.Errorf("no key for the model: %s printed nothing", k.Command[0])
	}
	return out.String(), nil
}

// first is the first text that is not empty.
func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
