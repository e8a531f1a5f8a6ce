package activity

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
)

// launch starts the program. Its input is all that it reads; nil is a pipe, process.stdin. Read is given its stdout, in
// a goroutine of its own, and may leave some of it.
func (x *program) launch(argv []string, input []byte, read func(io.Reader)) (p *process, err error) {
	started := make(chan struct{})
	launcher() <- func() {
		p, err = x.begin(argv, input, read)
		close(started)
	}
	<-started
	return p, err
}

// launcher returns the queue of the goroutine that starts all programs. Its thread lives
// as long as this process: Linux kills a program when the thread that started it ends.
var launcher = sync.OnceValue(func() chan<- func() {
	todo := make(chan func())
	go func() {
		runtime.LockOSThread()
		for do := range todo {
			do()
		}
	}()
	return todo
})

func (x *program) begin(argv []string, input []byte, read func(io.Reader)) (p *process, err error) {
	p = &process{cmd: exec.Command(argv[0], argv[1:]...), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = x.def.Dir, slices.Clip(x.environ)
	ownGroup(p.cmd)
	p.stderr.keep = quotedStderr + 64 + 2*x.hide.Longest() // more than is quoted: a quote may begin within a secret
	if x.options.Unchanged != nil {
		digest, err := x.options.Unchanged(x.name, p.cmd.Path)
		if err == nil && digest != "" {
			var opened *os.File
			if opened, err = fromDescriptor(p.cmd, x.def.Dir, digest); opened != nil {
				defer opened.Close()
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if input != nil {
		stdin, err := withText(input)
		if err != nil {
			return nil, err
		}
		defer stdin.Close()
		p.cmd.Stdin = stdin
	} else {
		p.stdin, err = p.cmd.StdinPipe()
	}
	stdout, noOutput := p.cmd.StdoutPipe()
	stderr, noErrors := p.cmd.StderrPipe()
	p.cmd.Err = cmp.Or(p.cmd.Err, err, noOutput, noErrors) // with which Start closes the others
	living.mu.Lock()                                       // so that KillAll sees it from its first moment
	if living.over {
		p.cmd.Err = cmp.Or(p.cmd.Err, errClosed)
	}
	if err = p.cmd.Start(); err == nil {
		living.all[p] = true
	}
	living.mu.Unlock()
	if err != nil {
		return nil, err
	}

	var readers sync.WaitGroup
	readers.Go(func() { read(stdout) })
	readers.Go(func() { io.Copy(&p.stderr, stderr) })
	go p.follow(&readers)
	return p, nil
}

// withText is a file without a name in which a program finds all that it reads before it
// starts: if obelus is killed, the program must not take the beginning for all of it.
func withText(input []byte) (*os.File, error) {
	f, err := unnamed()
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(input); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// temporary is a file in the temporary folder that is gone when it is closed, where the system can do that.
func temporary() (*os.File, error) {
	f, err := os.CreateTemp("", "obelus-*")
	if err == nil {
		_ = os.Remove(f.Name()) // Windows leaves it to the cleaning of the folder
	}
	return f, err
}
